"""Words of European languages, other than English, that bound or qualify what a sentence says.

They are in the languages of :mod:`jury_adapters.core.negations`, without accents and in lower case, as the words that
are compared with them. A word of another language with the same letters causes a needless doubt only.
"""

from __future__ import annotations

from typing import Final

from jury_adapters.core.negations import word_set

_BOUNDS: Final = {
    "German": "hochstens mindestens wenigstens zumindest maximal minimal maximum minimum spatestens fruhestens "
    "langstens nur lediglich ausschliesslich bloss allein allenfalls etwa ungefahr circa ca rund knapp "
    "gut zirka nahezu beinahe annahernd hochst mehr weniger meist meiste meisten meistens viele vieler "
    "einige einiger wenige mehrere manche teilweise teils grosstenteils uberwiegend halfte halb halbe "
    "halber halben halbes viertel drittel doppelt doppelte dreifach zweimal einmal jede jeder jedes jeden "
    "jedem je pro bis ab vor nach seit wahrend solange kunftig muss mussen darf durfen kann konnen soll "
    "sollen selten manchmal gelegentlich oft haufig normalerweise gewohnlich gegen uber unter oberhalb "
    "unterhalb jahrlich monatlich taglich wochentlich stundlich zu sehr",
    "French": "maximum minimum plus moins seulement uniquement exclusivement environ approximativement presque "
    "quasi jusqu jusque jusqu'a des depuis avant apres pendant tant chaque par plupart plusieurs quelques "
    "certains certaines peu beaucoup moitie demi demie tiers quart double triple souvent rarement parfois "
    "generalement normalement peut peuvent doit doivent trop partiellement mensuel annuel tard tot",
    "Spanish": "maximo maxima minimo minima mas menos solo solamente unicamente exclusivamente aproximadamente casi "
    "unos unas alrededor hasta desde antes despues durante mientras cada por mayoria varios varias "
    "algunos algunas pocos pocas muchos muchas mitad medio media tercio cuarto doble triple menudo "
    "raramente veces generalmente normalmente puede pueden debe deben demasiado parcialmente tarde "
    "temprano",
    "Italian": "massimo massima minimo minima piu meno solo soltanto solamente unicamente esclusivamente circa quasi "
    "approssimativamente fino finche da dopo prima durante mentre ogni per maggior maggioranza alcuni "
    "alcune pochi poche molti molte meta mezzo mezza terzo quarto doppio triplo spesso raramente talvolta "
    "generalmente normalmente puo possono deve devono troppo parzialmente entro tardi oltre",
    "Portuguese": "maximo maxima minimo minima mais menos so somente apenas unicamente exclusivamente aproximadamente "
    "quase cerca ate desde antes depois durante enquanto cada por maioria varios varias alguns algumas "
    "poucos poucas muitos muitas metade meio meia terco quarto dobro triplo raramente vezes geralmente "
    "normalmente pode podem deve devem demasiado parcialmente tardar",
    "Dutch": "hoogstens hooguit maximaal maximum minstens minimaal minimum tenminste ten uiterlijk vroegstens "
    "alleen slechts enkel uitsluitend maar pas ongeveer circa ca bijna rond zowat meer minder meeste "
    "meestal veel enkele sommige weinig meerdere helft half halve kwart derde dubbel dubbele tweemaal elk "
    "elke ieder iedere per tot vanaf voor na sinds tijdens zolang moet moeten mag mogen kan kunnen zelden "
    "soms vaak gewoonlijk normaal gedeeltelijk te",
    "Swedish": "hogst minst maximalt minimalt senast tidigast bara endast enbart cirka ca ungefar omkring nastan "
    "nara mer mindre flesta manga nagra fa halften halv halva fjardedel tredjedel dubbelt dubbla varje "
    "varannan per till fran fore efter sedan under medan maste kan far ska sallan ibland ofta vanligtvis "
    "normalt delvis for",
    "Danish": "hojst mindst maksimalt minimalt senest tidligst kun bare alene udelukkende cirka ca omtrent naesten "
    "mere mindre fleste mange nogle fa halvdelen halv halve fjerdedel tredjedel dobbelt hver hvert per pr "
    "til fra for efter siden mens skal kan ma sjaeldent sommetider ofte normalt delvis",
    "Norwegian": "hoyst minst maksimalt minimalt senest tidligst bare kun utelukkende cirka ca omtrent nesten mer "
    "mindre fleste mange noen fa halvparten halv halve fjerdedel tredjedel dobbelt hver hvert per pr til "
    "fra for etter siden mens ma kan skal sjelden ofte vanligvis normalt delvis",
    "Polish": "najwyzej maksymalnie conajmniej najmniej minimum minimalnie maksimum najpozniej najwczesniej tylko "
    "jedynie wylacznie okolo prawie niemal mniej wiecej ponad wiekszosc wiele kilka niektore malo polowa "
    "pol cwierc podwojnie kazdy kazda kazde co do od przed po podczas dopoki musi moze mozna rzadko "
    "czasem czesto zwykle czesciowo",
    "Russian": "максимум минимум максимально минимально более больше менее меньше только лишь исключительно около "
    "примерно приблизительно почти свыше большинство много несколько некоторые мало половина пол четверть "
    "треть вдвое каждый каждая каждое каждые до от с после перед пока должен должна должно может можно "  # noqa: RUF001
    "редко иногда часто обычно частично позднее ранее",
    "Ukrainian": "максимум мінімум максимально мінімально більше менше щонайбільше щонайменше тільки лише виключно "
    "близько приблизно майже понад більшість багато кілька деякі мало половина пів чверть третина вдвічі "
    "кожен кожна кожне кожні до від після перед поки мусить може можна рідко іноді часто зазвичай "
    "частково пізніше",
    "Greek": "μεγιστο ελαχιστο πολυ περισσοτερο λιγοτερο μονο αποκλειστικα περιπου σχεδον πανω κατω τουλαχιστον "
    "περισσοτεροι πολλοι μερικοι λιγοι μισο μισα μισοι διπλασιο καθε μεχρι εως απο πριν μετα αφου ενω "
    "πρεπει μπορει σπανια συχνα συνηθως εν μερει",
}
_HEDGES: Final = {
    "German": "moglicherweise vielleicht eventuell vermutlich wahrscheinlich voraussichtlich wohl angeblich "
    "offenbar anscheinend scheinbar konnte konnten durfte durften sollte sollten wurde wurden ausser "
    "ausgenommen abgesehen ausnahme ausnahmen ausnahmsweise wenn falls sofern soweit solange sobald ob "
    "statt anstatt anstelle denn sei laut zufolge behauptet behaupten bestritten bestreitet geplant "
    "abgelehnt verweigert fast ehemalig ehemalige ehemaliger",
    "French": "peut-etre eventuellement probablement possiblement vraisemblablement sauf excepte hormis exception "
    "si lorsque quand selon pretend pretendu pretendument pourrait pourraient devrait devraient serait "
    "faillit au-lieu",
    "Spanish": "quiza quizas posiblemente probablemente acaso eventualmente salvo excepto excepcion si cuando segun "
    "supuestamente presuntamente podria podrian deberia deberian seria niega dice",
    "Italian": "forse possibilmente probabilmente eventualmente salvo tranne eccetto eccezione se quando secondo "
    "presumibilmente presunto potrebbe potrebbero dovrebbe dovrebbero sarebbe",
    "Portuguese": "talvez possivelmente provavelmente eventualmente salvo exceto excepto excecao se quando segundo "
    "supostamente alegadamente poderia poderiam deveria deveriam seria",
    "Dutch": "mogelijk misschien wellicht waarschijnlijk vermoedelijk eventueel behalve uitgezonderd uitzondering "
    "tenzij indien als wanneer volgens zogenaamd zou zouden kon konden mits",
    "Swedish": "mojligen kanske troligen formodligen eventuellt forutom undantag undantagen utom om nar enligt "
    "pastas skulle kunde savida",
    "Danish": "muligvis maske sandsynligvis formentlig eventuelt undtagen undtagelse bortset medmindre hvis nar "
    "ifolge angiveligt ville kunne skulle",
    "Norwegian": "muligens kanskje sannsynligvis trolig eventuelt unntatt unntak bortsett utenom medmindre hvis dersom "
    "nar ifolge angivelig ville kunne skulle",
    "Polish": "moze byc-moze prawdopodobnie przypuszczalnie ewentualnie oprocz wyjatkiem poza chyba jesli jezeli "
    "gdy kiedy wedlug podobno rzekomo moglby mogloby",
    "Russian": "возможно вероятно наверное пожалуй кроме исключением исключая если когда согласно якобы "
    "предположительно бы",
    "Ukrainian": "можливо ймовірно мабуть напевно крім окрім винятком якщо коли згідно нібито би б",  # noqa: RUF001
    "Greek": "ισως πιθανον πιθανως ενδεχομενως εκτος εξαιρεση εξαιρουμενων αν εαν οταν συμφωνα φερεται",  # noqa: RUF001
}
_BEFORE_NUMBERS: Final = (
    "uber unter zwischen ab bis von gegen um entre sur sous de desde hasta sobre bajo tra fra da fino oltre sotto sob "
    "boven onder tussen tot van rond over under mellan mellem mellom fran till til ponad ponizej miedzy od do свыше от "
    "до между понад від між από έως πανω κατω"
)
_PREPOSITIONS: Final = (
    "mit ohne bei beim fur von vom aus in im am an auf unter uber zwischen innerhalb durch gegen zum zur wahrend "
    "avec sans chez pour de du des dans en au aux sur sous pendant entre "
    "con sin para del en entre sobre durante com sem no na nos nas em da do dos das "
    "senza di della dello dei delle nel nella nei nelle su tra fra per "
    "met zonder voor bij op uit binnen tijdens "
    "med utan uden uten fore hos av af pa under for "
    "z bez dla w na podczas przy с без для в на при під із зі у με χωρις για στο στη στην στον σε"  # noqa: RUF001
)
ALSO_ENGLISH: Final = word_set(
    "fast gut je per da do pas plus par for ten te maximum minimum minimal rang tot ab se media medium quarto triple "
    "double quart for under over fore far over si ma ca sob um co "
    "de falls fa manga mas na po pro solo so exception"
)
"""Words of these that are other words in English texts, where they do not count."""

BOUNDS: Final = word_set(*_BOUNDS.values())
"""Words that narrow, bound or measure what is said in their clause."""
HEDGES: Final = word_set(*_HEDGES.values())
"""Words that weaken, condition or report the sentence around them, or exempt from it."""
BEFORE_NUMBERS: Final = word_set(_BEFORE_NUMBERS)
"""Words that bound the number after them."""
PREPOSITIONS: Final = word_set(_PREPOSITIONS)
"""Prepositions of phrases that restrict a sentence, such as *mit Herzschrittmacher* and *en invierno*."""
