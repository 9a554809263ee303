"""Words that are capitalised without being anybody's name: they begin sentences, or are titles of things."""

from typing import Final

from heterodyne.safety.pii.words.word_set import word_set

LOWER: Final = word_set(
    """
    a about above according across act ad add address african after afterwards again against ai airflow all allow
    almost alone along already also although always am amazon american amex among an and android angular another
    ansible answer anthropic any anyone anything api apologies app apparently apple appreciate apt arab arabic are
    around article as ascii asian ask assert assistant assume async at atm august aunt australian avoid await away
    aws azure ba back bank based bash battery bc be because become been before begin being believe below best better
    between bible big bill bitcoin black board book bool border bot both box brazilian brief bring british bsc
    buddhist build bulgarian but buy by call can canadian cannot capitalized card case catholic cc cd ceo certainly
    cfo change chapter chart chatgpt check cheers children chinese choose christian christians christmas cia civil
    class claude clean click client close co code column come comment company compare complete compute consider
    contact contains context continue convert coo corp correct could council count country court covid cpu create
    css csv cto cuda currently customer czech dad danish data date day days dear debian debug december def define
    delete department describe design desk despite details determine develop dict did discipline discuss display dj
    django dna dns do docker does doing don done down dr draft during dutch dvd each early easter edit eg egyptian
    either else email end english ensure enter entertainment error estimate etc ethereum eu eur european evaluate
    even event every everybody everyone everything example excel except excuse expand explain extract facebook fact
    false family faq far fax fbi february federal few fifa figure file fill final finally find finnish first fix
    fixme flask float follow for force format former forward four free french friday from full function further game
    gbp gcp gemini general generate german get getting girl github gitlab give given gmbh go god going golang good
    google got government gpt gpu great greek greetings guide guilty had hadoop half halloween hanukkah happy has
    haskell have having he head hebrew hello help her here hers herself hey hi high highlight him himself hindu his
    history hiv hotel hour how however hr html http https human hundred hungarian i iban id idea identify ie if ii
    iii image imagine implement import important improve in inc include including indeed indian information input
    insert inside instagram install instead instruction instructions int internal international internet into
    introduction ip ipad iphone iranian iraqi irish is islam island israeli issue it italian its itself iv ix
    january japanese java javascript jax jenkins jewish job jpy json july june just kafka keep keras key king know
    korean kotlin kubernetes labor labour lady lambda large last late later latex latin law lead least leave left
    legal len less let lets level like likely line link linkedin linux list listen little live llc llm local long
    look lord lost love low lower ltd ma mac macos main make man manager many march mark markdown market mastercard
    math max may maybe mba me mean meanwhile meet member men message meta metallica method mexican microsoft might
    min miss missing ml mlb mobile model modify mom monday money mongodb month months more morning most mother
    mountain move mr mrs ms msc much mum music muslim must my myself mysql name nasa national nato nba near need
    neither never nevertheless new news next nfl nhl nice night nine nlp no nobody node none nor normal north
    northern norwegian not note nothing november now null number numpy o object october of off office often oh ok
    okay old on once one only onto open openai option or orchestra order original other others otherwise our ours
    out output outside over own page pandas paragraph park part party pass password past pay pdf pedestrians people
    per percent perhaps period perl persian person personal phd phone php pick pin place plan play please pm po
    point police polish portuguese position possible post postgres postgresql powerpoint pr prepare present
    president press pretend previously price prince princess print problem process produce product prof professor
    program project proofread propose protect prove provide public pull put python pytorch qa queen query question
    questions quick quickly quite quote quran ram ramadan rank rather rating react read real really reason recommend
    red redis refactor refer regarding regards related remember remove replace reply report request require research
    respond response rest result return review revise rewrite right rights rna road role roman romanian room round
    row royal ruby run russian rust said sale same sanskrit saturday save saw say scala school scottish search
    second section secure see seems select self send sentence september service set seven several shall she should
    show shows sign similarly simply since sincerely sir sister six small so social solve some someone something
    sometimes song soon sorry sort sorted south southern spanish spark special sql sqlite ssd ssh start state
    statement states stay step steps still stop story str street string strong student subject such suggest suite
    sum summarise summarize summary sunday suppose sure swedish system table take talk task tax tcp teach team
    tell ten tensorflow terraform test text thai than thank thanks thanksgiving that the their them themselves then
    there therefore these they thing things think third this those though thousand three through thursday thus
    tiktok time title to today todo together toml tomorrow tonight too top topic total toward towards town train
    transform translate treat treaty tree true try trying tuesday tuple turkish turn tutorial tv twitter two type
    typescript ubuntu udp uk ukrainian un uncle under understand unfortunately unicode union unit unless until up
    update upon url us usa usb usd use used user users using usually utf value various very vi via vietnamese view
    vii viii village visa visit vs vue wait wake walk want warning was watch water way we web website wednesday week
    weekly welcome well welsh were west western what whatever when whenever where whereas whether which while white
    who whoever whole whom whose why wife will windows wisdom with within without woman women wonder word words work
    working world would write written wrong xi xii xml yaml yeah year years yes yesterday yet you young your yours
    yourself youtube zip
    """
)
# Contractions, and what is written with capitals inside.
MIXED: Final = word_set(
    """
    C'mon Can't ChatGPT Couldn't Didn't Doesn't Don't GitHub He's Here's How's I'd I'll I'm I've Isn't It's
    JavaScript LaTeX Let's NumPy OpenAI PyTorch She's Shouldn't That's There's They're They've TypeScript We'll
    We're We've What's Where's Who's Won't Wouldn't Y'all You'll You're You've YouTube
    """
)


def capitalised(words: frozenset[str]) -> frozenset[str]:
    """The words as a sentence begins with them, and in capitals."""
    return frozenset(form for word in words for form in (word.capitalize(), word.upper()))


COMMON: Final = capitalised(LOWER) | MIXED
