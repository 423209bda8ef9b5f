"""Words for what libraries and archives record, in the languages of their tables."""

import re
import unicodedata

_WORDS = {
    "abstract": "abstract summary zusammenfassung inhaltsangabe résumé riassunto summarium",
    "author": "author authors creator verfasser verfasserin verfasserinnen autor autorin autoren "
    "autorinnen urheber auteur auteurs autrice autore autori auctor auctores",
    "category": "category kategorie rubrik catégorie categoria",
    "date": "date datum datierung data dies",
    "doi": "doi",
    "edition": "edition auflage ausgabe édition edizione editio",
    "editor": "editor editors herausgeber herausgeberin hrsg curatore",
    "file": "file filename image imagefile scan img photo datei dateiname bild bilddatei bildname "
    "foto fichier nomdefichier nomdufichier image immagine nomefile imago",
    "first_name": "firstname forename givenname vorname vornamen prénom prénoms praenomen",
    "format": "format formato size dimensions grösse masse",
    "id": "id identifier number no nr nummer inventarnummer kennung numéro numero ppn mmsid",
    "isbn": "isbn",
    "language": "language sprache langue lingua",
    "last_name": "lastname surname familyname nachname familienname zuname nomdefamille cognome",
    "note": "note notes remark remarks comment bemerkung bemerkungen anmerkung anmerkungen notiz "
    "kommentar remarque remarques nota",
    "pages": "page pages extent seite seiten seitenzahl seitenzahlen umfang pagination "
    "nombredepages pagina pagine paginae",
    "place": "place city ort stadt erscheinungsort verlagsort druckort lieu ville luogo città "
    "locus",
    "printer": "printer drucker imprimeur stampatore typographus",
    "publisher": "publisher verlag verleger éditeur maisondédition editore",
    "receiver": "receiver recipient addressee empfänger empfängerin adressat adressatin "
    "destinataire destinatario",
    "sender": "sender absender absenderin expéditeur expéditrice mittente",
    "series": "series reihe série serie collana",
    "shelfmark": "shelfmark callnumber signatur standnummer cote segnatura collocazione signatura",
    "subjects": "subject subjects keyword keywords topic topics schlagwort schlagwörter "
    "stichwort stichwörter thema themen sujet sujets motsclés soggetto soggetti",
    "subtitle": "subtitle untertitel titelzusatz soustitre sottotitolo",
    "text": "text fulltext transcript transcription volltext transkript transkription wortlaut "
    "texte testo trascrizione textus",
    "title": "title titel haupttitel sachtitel titre titolo titulus",
    "type": "type genre typ art gattung dokumenttyp tipo",
    "volume": "volume band tome tomus volumen",
    "year": "year jahr année anno annus",
}
"""Meaning → words for it: in English, German, French, Italian and Latin."""

_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe"})

LONGEST = 3
"""Maximum number of words of a heading that are tried together, as in `nom de fichier`."""

MIN_END, MAX_END = 4, 16
"""Length of a word that a longer one may end with, as `Erscheinungsjahr` with `Jahr`."""


def plain(text: str) -> str:
    """Return the letters and digits of a text, case-folded and without diacritics.

    Example:
        >>> plain("Author_Last Name"), plain("Größe")
        ('authorlastname', 'grosse')
    """
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(filter(str.isalnum, decomposed))


def without_umlauts(text: str) -> str:
    """Return a text, case-folded, with the letters that are written where there are no umlauts.

    Example:
        >>> without_umlauts("Größe")
        'groesse'
    """
    return unicodedata.normalize("NFC", text).casefold().translate(_UMLAUTS)


def spellings(text: str) -> set[str]:
    """Return the ways in which the letters and digits of a name may be written.

    Example:
        >>> sorted(spellings("Größe (cm)"))
        ['groessecm', 'grossecm']
    """
    return {plain(text), plain(without_umlauts(text))} - {""}


def meanings(text: str) -> list[str]:
    """Return what the words of a heading or of a field's name mean, in order.

    Example:
        >>> meanings("Verfasser (Nachname)"), meanings("publication.place")
        (['author', 'last_name'], ['place'])
        >>> meanings("Erscheinungsjahr"), meanings("Année de publication"), meanings("Farbe")
        (['year'], ['year'], [])
    """
    words = [plain(word) for word in re.split(r"[\W_]+", unicodedata.normalize("NFC", text))]
    words = [word for word in words if word]
    result: list[str] = []
    position = 0
    while position < len(words):
        for length in range(min(LONGEST, len(words) - position), 0, -1):
            meaning = _BY_WORD.get("".join(words[position : position + length]))
            if meaning:
                result.append(meaning)
                position += length
                break
        else:
            ending = _ending(words[position])
            result += [ending] if ending else []
            position += 1
    return result


def _ending(word: str) -> str | None:
    """Return what a German compound means, by the longest word that it ends with."""
    for start in range(max(1, len(word) - MAX_END), len(word) - MIN_END + 1):
        if word[start:] in _BY_WORD:
            return _BY_WORD[word[start:]]
    return None


_BY_WORD = {plain(word): meaning for meaning, words in _WORDS.items() for word in words.split()}
