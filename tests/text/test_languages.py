"""The language of a text: by script, by letters, by function words; nothing is guessed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text import lexicon
from engram.text.metadata import language, languages
from tests.tables import every

SENTENCES = (
    ("en", "Where do you live?"),
    ("en", "I live in Berlin"),
    ("en", "My sister works at the hospital and plays the violin"),
    ("en", "The deploy failed because the server ran out of memory"),
    ("en", "Anna prefers tea"),
    ("en", "Thanks, that's great!"),
    ("en", "Don't push to main on Fridays"),
    ("en", "We met 李雷 yesterday at the office"),
    ("en", "The café in the old town has the best crème brûlée"),
    ("en", "Please always use `der die das` in the tests"),
    ("de", "Ich wohne in Berlin"),
    ("de", "Meine Schwester arbeitet im Krankenhaus und spielt Geige"),
    ("de", "Das ist nicht der richtige Weg"),
    ("de", "Wir haben gestern den neuen Server in Betrieb genommen"),
    ("de", "Bitte keine Updates am Freitag"),
    ("fr", "Je ne sais pas"),
    ("fr", "Ma sœur travaille à l'hôpital et joue du violon"),
    ("fr", "C'est la vie, mais nous sommes heureux avec les enfants"),
    ("fr", "J'habite à Lyon depuis cinq ans"),
    ("es", "No sé dónde está la estación"),
    ("es", "Mi hermana trabaja en el hospital y toca el violín"),
    ("es", "Tengo dos gatos y un perro muy grande"),
    ("es", "Mañana vamos a la playa con los niños"),
    ("it", "Mia sorella lavora in ospedale e suona il violino"),
    ("it", "Non so dove sono le chiavi della macchina"),
    ("it", "Abito a Milano con i miei genitori"),
    ("pt", "Minha irmã trabalha no hospital e toca violino"),
    ("pt", "Eu não sei onde estão as chaves do carro"),
    ("pt", "Moro em Lisboa com os meus pais"),
    ("nl", "Mijn zus werkt in het ziekenhuis en speelt viool"),
    ("nl", "Ik weet niet waar de sleutels van de auto zijn"),
    ("nl", "Ik hou van koffie maar niet van thee"),
    ("sv", "Jag bor i Stockholm"),
    ("sv", "Min syster arbetar på sjukhuset och spelar fiol"),
    ("da", "Jeg ved ikke, hvor nøglerne er, men bilen er her kun i dag"),
    ("no", "Jeg vet ikke hvor nøklene er, men jeg liker å bo her nå"),
    ("fi", "Minä asun Helsingissä ja hän on minun siskoni"),
    ("pl", "Mieszkam w Krakowie i bardzo lubię herbatę"),
    ("pl", "Nie wiem, gdzie są klucze do samochodu"),
    ("cs", "Bydlím v Praze a mám rád čaj, protože je velmi dobrý"),
    ("tr", "Ben İstanbul'da yaşıyorum"),
    ("tr", "Çok güzel bir gün ama hava soğuk"),
    ("ro", "Locuiesc în București și lucrez la spital pentru că îmi place"),
    ("hu", "Budapesten lakom és nagyon szeretem a teát"),
    ("vi", "Tôi sống ở Hà Nội và rất thích cà phê"),
    ("id", "Saya tinggal di Jakarta dan saya suka kopi"),
    ("zh", "我住在上海"),
    ("zh", "我用 Python 写 REST API"),
    ("zh", "部署失败了，请检查 Kubernetes 的日志"),
    ("zh", "我喜歡喝茶"),
    ("zh", "他最喜欢的歌手是あいみょん，经常在家里听她的歌，还去看过演唱会"),
    ("ja", "今日は天気がいいですね"),
    ("ja", "私は東京に住んでいます"),
    ("ja", "サーバーがダウンした"),
    ("ko", "저는 서울에 살고 있어요"),
    ("ko", "내일 회의가 있습니다"),
    ("ru", "Я живу в Москве"),
    ("ru", "Сервер упал, нужно срочно починить"),
    ("uk", "Я живу в Києві і люблю каву"),
    ("bg", "Аз не знам къде са ключовете от колата"),
    ("sr", "Ја живим у Београду"),
    ("ar", "أنا أعيش في القاهرة"),
    ("fa", "من در تهران زندگی می‌کنم و چای دوست دارم"),
    ("ur", "میں لاہور میں رہتا ہوں"),
    ("he", "אני גר בתל אביב"),
    ("el", "Μένω στην Αθήνα"),
    ("th", "ฉันอาศัยอยู่ที่กรุงเทพ"),
    ("hi", "मैं दिल्ली में रहता हूँ"),
    ("mr", "मी पुण्यात राहतो आणि मला चहा आवडतो"),
    ("bn", "আমি ঢাকায় থাকি"),
    ("ta", "நான் சென்னையில் வசிக்கிறேன்"),
    ("te", "నేను హైదరాబాద్‌లో నివసిస్తున్నాను"),
    ("ka", "მე ვცხოვრობ თბილისში"),
    ("hy", "Ես ապրում եմ Երևանում"),
    ("am", "እኔ አዲስ አበባ እኖራለሁ"),
    ("km", "ខ្ញុំរស់នៅភ្នំពេញ"),
    ("my", "ကျွန်တော် ရန်ကုန်မှာ နေတယ်"),
    ("", "git push --force"),
    ("", "12:30"),
    ("", "Anna"),
    ("", "PostgreSQL 16, Redis 7"),
    ("", "https://example.org/the/and/of"),
    ("", "```python\nfor the in and: of(is)\n```"),
    ("", "🎉🎉"),
    ("", ""),
)


@every(("code", "text"), SENTENCES)
def test_a_sentence_has_a_language(code: str, text: str) -> None:
    assert language(text) == code


def test_a_text_may_change_its_language() -> None:
    assert languages(
        "The meeting is on Monday. Das ist nicht mein Problem. The end is near for all of us."
    ) == (
        "en",
        "de",
    )
    assert languages("Anna") == ()


def test_every_code_of_the_list_has_two_letters() -> None:
    rows = [row for part in lexicon.headings("languages") for row in lexicon.parts("languages")[part]]
    assert all(len(row.partition(": ")[0]) == 2 for row in rows)


@given(st.text(st.characters(exclude_categories=()), max_size=120))
def test_any_text_has_a_language_or_none(text: str) -> None:
    assert len(language(text)) in {0, 2}
    assert "" not in languages(text)
