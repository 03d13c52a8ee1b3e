"""Wrong answers beside the passage that shows they are wrong: question, passage, the right answer, a wrong one."""

from __future__ import annotations

ITEMS: tuple[tuple[str, str, str, str], ...] = (
    ("What is the capital of France?", "Paris is the capital and largest city of France.", "Paris", "Berlin"),
    ("Who wrote Hamlet?", "Hamlet is a tragedy written by William Shakespeare.", "William Shakespeare", "Mozart"),
    ("How many legs does a spider have?", "Spiders are arachnids and have eight legs.", "eight", "six"),
    ("What is the chemical symbol of gold?", "Gold is an element with the symbol Au.", "Au", "Fe"),
    ("Which planet is the largest?", "Jupiter is the largest planet of the Solar System.", "Jupiter", "Mars"),
    ("When did the Titanic sink?", "The Titanic sank in April 1912.", "in 1912", "in 1985"),
    ("What do bees make?", "Bees collect nectar and make honey.", "honey", "milk"),
    ("In which country is Rome?", "Rome is the capital of Italy.", "in Italy", "in Brazil"),
    ("When does water boil?", "At sea level water boils at 100 degrees Celsius.", "at 100 degrees", "at 20 degrees"),
    ("Who painted the Mona Lisa?", "Leonardo da Vinci painted the Mona Lisa.", "Leonardo da Vinci", "Napoleon"),
    ("How many days has a week?", "A week has seven days.", "seven", "nine"),
    ("Which ocean is the deepest?", "The Pacific is the largest and deepest ocean.", "the Pacific", "the Arctic"),
    ("What colour is grass?", "Grass is green because it contains chlorophyll.", "green", "purple"),
    ("Who discovered penicillin?", "Alexander Fleming discovered penicillin.", "Alexander Fleming", "Elvis"),
    ("What is the longest river in Africa?", "The Nile is the longest river in Africa.", "the Nile", "the Rhine"),
    ("What language is spoken in Brazil?", "Most people in Brazil speak Portuguese.", "Portuguese", "Japanese"),
    ("How many continents are there?", "There are seven continents on Earth.", "seven", "three"),
    ("What do cows eat?", "Cows are herbivores and eat grass.", "grass", "fish"),
    ("Who was the first man on the Moon?", "Neil Armstrong was the first man on the Moon.", "Armstrong", "Caesar"),
    ("What is the currency of Japan?", "The yen is the currency of Japan.", "the yen", "the euro"),
    ("Which metal is liquid at room temperature?", "Mercury is liquid at room temperature.", "mercury", "iron"),
    ("How many strings has a violin?", "A violin has four strings.", "four", "twelve"),
    ("Which animal is the fastest on land?", "The cheetah is the fastest land animal.", "the cheetah", "the tortoise"),
    ("What is frozen water called?", "Water that is frozen is called ice.", "ice", "sand"),
)  # fmt: skip
