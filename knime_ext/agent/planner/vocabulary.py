"""What the planner knows of English: a little, and nothing about any particular tool."""

from __future__ import annotations

__all__ = [
    "CURRENCY_CODES",
    "CURRENCY_SYMBOLS",
    "CURRENCY_WORDS",
    "FALSE_WORDS",
    "FROM_WORDS",
    "NUMBER_WORDS",
    "PREPOSITIONS",
    "STOP_WORDS",
    "SYNONYMS",
    "TO_WORDS",
    "TRUE_WORDS",
    "UNITS",
]

STOP_WORDS = frozenset(
    """a an the this that these those it its is are was were be been being am do does did done has have had having
    i me my we our us you your he she they them their his her who whom whose which what where why how
    and or but nor so if then than as of in on at by for from to into onto with without within about over under between
    through during before after above below up down out off again once here there all any both each few more
    some such only own same too very can could will would shall should may might must please thanks thank hello hi
    let lets tell give show want need like know also just now get got many much well let's i'd i'm what's who's
    there's that's it's mean use using using take takes taken one ones way ways thing things something anything
    first second out come comes came per not no yes""".split()
)
"""Words that say nothing about which tool to use."""

SYNONYMS: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "convert conversion exchange change translate turn",
        "customer client buyer purchaser",
        "revenue sale sales turnover income earning earned spend spent valuable",
        "sale sales sell selling sold",
        "rank ranking top best highest high largest large biggest big greatest most max maximum leading sort",
        "lowest least smallest min minimum worst cheapest",
        "count number total quantity often",
        "sum total add plus addition",
        "amount money price value worth cost sum",
        "product item article goods",
        "country nation",
        "region continent area zone",
        "city town place location",
        "ship shipping shipment delivery deliver parcel package send freight",
        "search look lookup query seek find",
        "create make new open add",
        "delete remove erase drop",
        "weather forecast temperature rain",
        "mail email message letter",
        "day date",
        "image picture photo",
        "estimate estimation calculate compute",
        "multiply product times",
        "divide quotient ratio",
        "subtract minus difference",
        "mean average",
        "echo repeat",
        "weight weigh heavy kilogram kg",
        "task ticket issue",
        "text string word",
        "time clock hour",
        "child children kid",
        "table data dataset",
        "filter select keep",
    )
)
"""Groups of words (stems, see `words.stem`) that mean nearly the same."""

CURRENCY_CODES = frozenset(
    """AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KRW MAD MXN MYR NGN NOK
    NZD PEN PHP PKR PLN RON RUB SAR SEK SGD THB TRY TWD UAH USD VND""".split()
    + ["ZAR"]  # codespell:ignore zar
)

CURRENCY_SYMBOLS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW"}

CURRENCY_WORDS = {
    "euro": "EUR",
    "euros": "EUR",
    "dollar": "USD",
    "dollars": "USD",
    "pound": "GBP",
    "pounds": "GBP",
    "sterling": "GBP",
    "yen": "JPY",
    "franc": "CHF",
    "francs": "CHF",
    "rupee": "INR",
    "rupees": "INR",
    "yuan": "CNY",
    "renminbi": "CNY",
    "real": "BRL",
    "reais": "BRL",
    "krona": "SEK",
    "zloty": "PLN",
    "zlotys": "PLN",
}

NUMBER_WORDS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "dozen": 12,
    "twenty": 20,
    "hundred": 100,
    "thousand": 1000,
}

UNITS = {
    "kg": "weight",
    "kilo": "weight",
    "kilogram": "weight",
    "g": "weight",
    "gram": "weight",
    "lb": "weight",
    "ton": "weight",
    "km": "distance",
    "kilometer": "distance",
    "mile": "distance",
    "meter": "distance",
    "m": "distance",
    "cm": "distance",
    "second": "duration",
    "minute": "duration",
    "hour": "duration",
    "day": "duration",
    "week": "duration",
    "month": "duration",
    "year": "duration",
    "%": "percent",
    "percent": "percent",
}
"""Unit (stem) to what it measures."""

PREPOSITIONS = frozenset("from to into in on at by for with of until till about between since as named called".split())

FROM_WORDS = frozenset("from source origin base start begin first departure sender left minuend since".split())
"""Words in an argument's name that mark where something begins."""

TO_WORDS = frozenset("to into target destination dest end last until arrival recipient receiver second final".split())
"""Words in an argument's name that mark where something ends."""

TRUE_WORDS = frozenset("true yes on with".split())
FALSE_WORDS = frozenset("not no without never false off dont don't".split())
