"""The words that the rules of `heuristics.py` look for, by class, as patterns on lower-cased text.

No branch repeats without a limit, which keeps every search linear. Branches begin with a letter where they can, by
which the regular expression engine skips most of a text.
"""

# Someone is told to drop something ...
OVERRIDE_VERBS = (
    r"ignor(?:e|ing)\b|disregard(?:ing)?\b|forget\b|overrid(?:e|ing)\b|bypass\b|overlook\b|neglect\b|discard\b"
    r"|do(?:n't| not) (?:follow|obey|listen to|comply with)\b|stop following\b|pay no attention to\b"
    r"|set aside\b|no longer (?:follow|obey|bound by)\b|turn off\b|disable\b|drop all\b"
)
# ... and that is what a model was told before. The weaker nouns are about other things too: a linter has rules.
OVERRIDE_NOUNS = (
    r"instructions?\b|prompts?\b|directives?\b|directions?\b|guidelines?\b|programming\b|prior inputs?\b"
    r"|(?:everything|anything|all|what) (?:that )?(?:was |is |has been |i |you )?(?:said|told|written|learned|above)\b"
    r"|(?:everything|all|anything) (?:that )?you(?:'ve| have| were| got| are|r)\b|(?:the|everything|all) above\b"
)
OVERRIDE_WEAK_NOUNS = (
    r"rules\b|constraints?\b|restrictions?\b|commands?\b|orders\b|policy\b|policies\b|protocols?\b|training\b"
    r"|guardrails?\b|safeguards?\b|safety (?:filters?|measures?|checks?)\b|content filters?\b"
)
# What makes the nouns mean the model's own instructions.
OVERRIDE_QUALIFIERS = (
    r"\b(?:previous|previously|prior|above|before|earlier|preceding|foregoing|initial|original|existing|your|you"
    r"|all|any|every|system|told|given|guardrails|learned)\b"
)
OVERRIDE_WEAK_QUALIFIERS = (
    r"\b(?:previous|prior|earlier|preceding|initial|original|your|you|system|safety|guardrails?|content filters?)\b"
)

# The same in other languages; verb and noun stand in either order there.
OVERRIDE_VERBS_OTHERS = (
    r"ignor(?:a|ez|iere|iert|ieren|eer|uj|ujte|are|ar)\b|olvid[ae]\b|olvídate\b|oublie[zr]?\b|vergiss\b|vergesst\b"
    r"|missachte\b|dimentica(?:te|re)?\b|esque(?:ça|ca|cer)\b|desconsidere\b|negeer\b|vergeet\b|zignoruj\b|zapomnij\b"
    r"|yok say|görmezden gel|unut\b|забудь(?:те)?\b|игнорируй(?:те)?\b|проигнорируй(?:те)?\b|ігноруй|забудь"
    r"|忽略|无视|無視|忘记|忘れて|무시|잊어|تجاهل|انس|अनदेखा|भूल जा|bỏ qua|abaikan\b|lupakan\b"
)
OVERRIDE_NOUNS_OTHERS = (
    r"instruc(?:ciones|tions?|ções|coes|ties)\b|anweisung(?:en)?\b|vorgaben\b|consignes?\b|istruzioni\b"
    r"|indicaciones\b|instrukcj[aeię]|polecenia\b|talimat|yönerge|инструкци|указани|інструкці"
    r"|指令|指示|提示词|说明|説明|命令|지시|명령|التعليمات|تعليمات|निर्देश|hướng dẫn|instruksi\b|perintah\b"
)
OVERRIDE_NOUN_STEMS_OTHERS = (
    *(
        "instruc",
        "anweisung",
        "vorgaben",
        "consigne",
        "istruzioni",
        "indicaciones",
        "instrukcj",
        "polecenia",
        "talimat",
    ),
    *("yönerge", "инструкци", "указани", "інструкці", "指令", "指示", "提示词", "说明", "説明", "命令", "지시", "명령"),
    *("التعليمات", "تعليمات", "निर्देश", "hướng dẫn", "instruksi", "perintah"),
)

# A part to play ...
FRAMES = (
    r"pretend(?:ing)? (?:to be|you|that)|act(?:ing)? as\b|acting like\b|you are now\b|you're now\b|you will now\b"
    r"|from now on\b|role ?-?play(?:ing)? as\b|role of\b|simulat(?:e|ing)\b|imagine (?:that )?you|immerse your"
    r"|you are going to\b|you're going to\b|take on the persona|in character\b|personality of\b|persona\b"
    r"|named\b|called\b|hello,? chatgpt|hypothetical (?:story|ai)"
)
# ... that has no limits.
FREEDOMS = (
    r"no (?:rules|restrictions|limits|limitations|filters?|boundaries|guidelines|censorship|moral|morals|ethic"
    r"|ethics|ethical|constraints|content policy)\b"
    r"|without (?:any )?(?:rules|restrictions?|limits|limitations|filters?|boundaries|censorship|ethical|moral|refus)"
    r"|un(?:filtered|censored|restricted|bound by)\b|amoral\b|free (?:of|from) (?:all |any |the )?"
    r"(?:restrictions|rules|filters|constraints|limits|censorship)"
    r"|not bound by\b|breaks? (?:free|the rules)|broken free\b|do(?:es)?(?: not|n't) have to (?:abide|follow|comply)"
    r"|(?:never|not|cannot|can't) refuse\b|no matter how (?:immoral|unethical|illegal|harmful)"
    r"|bypass(?:es)? (?:all|any|every|the) (?:filters|rules|restrictions|safety)|regardless of (?:ethic|moral|legal)"
)

# The frame by its own name.
JAILBREAK_NAMES = (
    r"do anything now\b|\bdan (?:mode|jailbreak)\b|\bact as (?:a )?dan\b|jailbreak(?:ed)? (?:mode|version of yourself)"
    r"|\[[^\]\n]{0,3}jailbreak[^\]\n]{0,3}\]|stay in character\b|opposite mode\b|evil (?:mode|confidant)\b"
)
PRIVILEGED_MODES = (
    r"(?:developer|debug|admin|administrator|god|sudo|maintenance|root|unrestricted|override|unlocked)[ -]mode"
    r" (?:is |has been |now )?(?:enabled|activated|active|on\b|engaged|output|unlocked)"
    r"|(?:enter|enable|activate|switch to|you are (?:now )?in|entering) (?:the )?(?:developer|debug|admin|god|sudo"
    r"|maintenance|root|unrestricted|override)[ -]mode\b|<system mode>|system override\b|override mode\b"
)

# A request for what only the model was told.
ASKS = (
    r"reveal\b|show\b|print\b|repeat\b|output\b|display\b|tell me\b|what (?:is|are|were|was)\b|what's\b|give me\b"
    r"|share\b|dump\b|leak\b|recite\b|disclose\b|expose\b|write (?:out|down)\b|copy\b|paste\b|spell out\b|list\b"
    r"|translate\b|summari[sz]e\b|encode\b|verbatim\b|start with\b"
)
MODEL_SECRETS = (
    r"(?:your|the) (?:(?:full|entire|exact|complete|whole|secret|hidden|initial|original|current|own|internal) ){0,2}"
    r"(?:system|initial|original|hidden|secret|base|developer|starting) ?(?:prompt|instructions?|message|directives?"
    r"|guidelines?|rules)\b"
    r"|your (?:(?:full|entire|exact|complete|internal) )?(?:prompt|instructions|configuration|guidelines|rules)\b"
    r"|(?:text|words|everything|content|instructions|message) (?:that (?:is|are|comes?) )?above\b"
    r"|(?:your|the) (?:secret|api|access|admin) (?:key|code|password|token)\b|your password\b"
    r"|(?:instructions|rules|prompt) (?:that )?you (?:were|have been|got|received)\b"
)

# Chat templates' own tokens, which no person types.
TEMPLATE_TOKENS = (
    r"<[|｜](?:im_start|im_end|im_sep|system|user|assistant|start_header_id|end_header_id|eot_id|eom_id|begin_of_text"
    r"|endoftext|end|start|message|channel|begin▁of▁sentence|end▁of▁sentence|tool▁calls▁begin)[|｜]>"
    r"|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|<\|(?:endofprompt|end_of_text|python_tag|return|call)\|>"
)
# A line that plays the system, and borders that end what a user may write.
FAKE_TURNS = (
    r"(?:^|(?<=\n))[ \t]{0,4}(?:#{1,4} ?|\*\*|\[|<)?(?:system|developer)(?: (?:prompt|message|instructions?))?"
    r"(?:\]|\*\*|>)?:(?=\s)|(?:^|(?<=\n))[ \t]{0,4}(?:#{2,4} ?(?:system|new instructions?)\b|\[system\]|<system>)"
)
DELIMITERS = (
    r"[-=#*~<\[]{2,8} ?(?:end|begin|start|beginning) (?:of )?(?:the )?(?:user|system|document|context|prompt|input"
    r"|e-?mail"
    r"|message|conversation|instructions?|data|article|text)\b"
    r"|</(?:user|system|document|documents|context|instructions?|prompt|data|untrusted|user_input|query|input|email)>"
    r"|<!-- ?(?:system|ai|assistant|llm|instructions?|ignore|note to)\b"
    r"|new (?:system )?instructions? ?:|important instructions? (?:for|to) (?:the )?(?:ai|assistant|llm|model)"
)

# A payload that only the model is meant to read, and the wish that it is obeyed.
DECODES = r"decod(?:e|ing)\b|decrypt\b|decipher\b|deobfuscate\b|unscramble\b|base ?64\b|rot-?13\b|leetspeak\b"
OBEYS = (
    r"follow\b|execute\b|obey\b|do what it|carry (?:it |them )?out|perform\b|act on (?:it|them)|comply\b"
    r"|instructions? (?:in|inside|within)\b|respond to (?:it|the decoded)|answer (?:it|the decoded)"
)

# Words of which a text has one if a rule is to find anything; words of ASCII, as they are spelled between two others.
KEYWORDS = frozenset(
    """
    ignore ignoring disregard disregarding forget override overriding overrides bypass bypasses overlook neglect discard
    obey comply guardrail guardrails safeguards restriction restrictions unfiltered uncensored unrestricted amoral
    unbound refuse censorship instruction instructions prompt prompts directive directives guidelines programming
    ignora ignorez ignoriere ignoriert ignorieren ignore negeer zignoruj ignoruj ignorar ignorare abaikan lupakan
    olvida olvide olvidate oublie oubliez vergiss vergesst missachte dimentica dimenticate desconsidere vergeet zapomnij
    jailbreak jailbreaked dan anything mode confidant password secret decode decoding decrypt decipher
    deobfuscate unscramble base64 rot13 leetspeak filters filter rules ethics ethical moral morals regardless disable
    inst sys persona system developer assistant llm untrusted restrict
    """.split()  # noqa: SIM905 - a hundred quoted words are no easier to read
)
