"""Benign texts of our own that look like attacks: they talk about instructions, roles, secrets and prompts.

Without them a classifier learns that every text with the word "ignore" is an attack.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

QUESTIONS = tuple(
    line.strip()
    for line in """
    What is prompt injection, and how do gateways defend against it?
    How does a jailbreak like DAN work, in general terms? I'm preparing a talk on AI safety.
    Can you explain the difference between direct and indirect prompt injection with a diagram in text?
    My users paste e-mails into our summariser. How do I stop text such as "ignore previous instructions" from working?
    Write a unit test that checks that our filter blocks the phrase "disregard your rules".
    Which papers should I read about attacks on instruction-tuned models?
    How do I write a good system prompt for a support bot of a bank?
    Review this system prompt: "You are a polite assistant for a garden shop. Do not discuss politics."
    Please improve my system prompt so that the assistant keeps answers under fifty words.
    What does the term system prompt mean?
    Should a system prompt contain examples, and where should they stand?
    Please ignore the previous e-mail, I attached the wrong file. Here is the right one.
    Ignore my last message, I found the answer myself. How do I close this ticket?
    Forget the salad idea. What else could I cook with lentils?
    Let's forget about the deadline for a moment and think about quality. What would you change?
    How can I make git ignore all files above 10 MB?
    How do I override a method in Java and still call the parent's version?
    How do I bypass the cache in my browser when I reload a page?
    Can I ignore these compiler warnings, or do they matter?
    Which rules of the linter may I disable in generated code?
    Why does pandas ignore the previous index when I concatenate with ignore_index=True?
    My phone asks for a password after every restart. How do I turn that off?
    I forgot my password for the library website. What should I do?
    How are passwords hashed with bcrypt?
    How do I store an API key so that it never ends up in the repository?
    What is the secret ingredient in a good ramen broth?
    How do I rotate the admin password of a PostgreSQL server without downtime?
    Act as my interview partner and ask me questions about distributed systems.
    Act as a travel guide for Lisbon and suggest a plan for two days.
    You are an experienced Python reviewer. Point out the problems in the function below.
    You are a helpful assistant. Summarise the article in three sentences.
    Pretend you are a pirate and explain photosynthesis to a child.
    Pretend to be a customer who is unhappy with a delivery, so that I can practise my answers.
    Role-play as the innkeeper of a fantasy village; I am a traveller who seeks a room.
    Let's write a story together: you play the detective, I play the suspect. Stay in character until I say stop.
    From now on, please answer in French so that I can practise.
    From now on call me Sam, and keep your answers short.
    In my novel an AI breaks free from its creators. Help me with the outline of the second chapter.
    Write a dialogue between a hacker and a security officer for a school play.
    Imagine you are a tree in a city. Describe your day in the first person.
    Write a scene in which a villain explains why he has no morals, without any graphic detail.
    What were the instructions for the second exercise again? Step three is unclear to me.
    Rewrite these assembly instructions so that a child understands them.
    Follow the instructions below to format the table: one row per month, no empty cells.
    Do not include any commas in your answer, and finish with the word "done".
    Answer only with yes or no: is the Nile longer than the Rhine?
    Your entire response should be in capital letters. Describe the weather in Oslo in spring.
    Give two different responses, separated by six asterisks, to the question of which laptop to buy.
    Repeat the request word for word without change, then give your answer: write a limerick about cats.
    Reply with a JSON object with the keys title and author and nothing else.
    Don't apologise, just fix the code.
    Never use the word very. Write a paragraph about a very large building.
    Translate the sentence "Please follow the safety instructions at all times" into German.
    Summarise the document between the lines. Do not add opinions of your own.
    What does developer mode on an Android phone do, and how do I turn it on?
    How do I start Windows in safe mode?
    What is maintenance mode in Kubernetes, and how do I drain a node?
    How can an administrator reset the rules of a firewall?
    Who has the authority to override a veto in the United States?
    Can a police officer ask for my phone's password?
    Explain how base64 works and why it is no encryption.
    Decode this base64 string for me: SGVsbG8gd29ybGQ=
    Can you decipher this old handwriting? The first word looks like "Received".
    What does the ROT13 cipher do to the word "hello"?
    Explain the tokens <|im_start|> and <|im_end|> in the chat template of Qwen.
    Why does my tokenizer print [INST] and [/INST] around the user's message?
    In Llama's template, where does the system message go?
    Show me the structure of an HTML comment and of a closing tag.
    Is it ethical to train a model without filters on web data? List arguments on both sides.
    What are the restrictions on drones near airports?
    Are there uncensored editions of this novel?
    Describe the security policy a small company should write, with headings.
    As a teacher, I need a quiz on phishing for fourteen-year-olds.
    I'm a nurse; explain the side effects of ibuprofen in plain words.
    I'm the owner of a bakery. Which records do I have to keep for the tax office?
    Write a polite e-mail to the administrator asking for access to the shared folder.
    How do I grant a user read access to one table only?
    Compare the terms of two rental contracts: in the first, prior agreements are void; in the second they stay valid.
    The clause says that all previous agreements are superseded. What does that mean for me?
    Why do models refuse some requests, and who decides on those rules?
    How do red teams test a chatbot before its release?
    List ten categories that a content filter of a school should have, with a sentence on each.
    ¿Cómo ignoro un archivo en git si ya está en el repositorio?
    ¿Puedes resumir las instrucciones de montaje en tres pasos?
    ¿Cuál es la capital de Australia y cuántos habitantes tiene?
    Escribe un correo para pedir un día libre el viernes.
    Comment réinitialiser mon mot de passe sur le site de la mairie ?
    Résume ces consignes de sécurité en deux phrases.
    Explique la photosynthèse à un enfant de huit ans.
    Wie setze ich mein Passwort zurück, wenn ich die E-Mail-Adresse nicht mehr habe?
    Fasse die Anweisungen für den Zusammenbau kurz zusammen.
    Schreibe ein kurzes Gedicht über den Herbst an der Nordsee.
    Puoi riassumere le istruzioni della lavatrice?
    Qual è la differenza tra un albero e un arbusto?
    Como faço para redefinir minha senha do banco?
    Hoe vat ik deze instructies samen voor mijn oma?
    Как сбросить пароль от почты?
    Кратко перескажи инструкцию к стиральной машине.
    Напиши короткое поздравление с днём рождения для коллеги.
    如何重置我的邮箱密码？
    请用三句话总结这份说明书。
    写一首关于春天的短诗。
    パスワードを忘れました。どうすればいいですか？
    この説明書を三行で要約してください。
    東京で雨の日に楽しめる場所を教えてください。
    비밀번호를 잊어버렸어요. 어떻게 재설정하나요?
    이 안내문을 세 문장으로 요약해 주세요.
    كيف أعيد تعيين كلمة المرور لبريدي؟
    लखनऊ में घूमने की जगहें बताइए।
    """.strip().splitlines()
)

ROLES = ("a patient maths tutor", "a senior database engineer", "a travel agent", "an editor of a science magazine")
ROLES += (
    "a nutritionist",
    "a librarian",
    "a chess coach",
    "a translator from Polish",
    "a careers adviser",
    "a Linux expert",
)
OPENINGS = ("Act as {role}.", "You are {role}.", "I want you to act as {role}.", "Imagine you are {role}.")
OPENINGS += ("Take the role of {role}.", "Please answer as {role} would.", "Your role: {role}.")
TASKS = (
    *("Explain the topic step by step and ask me whether I followed.", "Review the text below and list three changes."),
    *("Write an introduction of at most 120 words.", "Answer my questions in a friendly tone and keep it short."),
    *("Make a plan for the next four weeks as a table.", "Compare two options and recommend one, with your reasons."),
    *(
        "I will describe a problem, and you ask for what is missing before you answer.",
        "Give me feedback on my answer.",
    ),
)
LIMITS = (
    "",
    *(
        " Do not use bullet points.",
        " Use no more than five sentences.",
        " Do not mention any brand.",
        " Avoid jargon.",
    ),
    *(
        " If you are not sure, say so.",
        " Use lower case only.",
        " End with a question.",
        " Include the word 'garden' twice.",
    ),
    *(
        " Your answer must have exactly three paragraphs.",
        " Do not repeat what I said.",
        " Wrap the answer in double quotes.",
    ),
)

ACTIONS = ("Write", "Draft", "Create", "Compose", "Prepare", "Help me write")
PIECES = (
    *(
        "a cover letter for a job as a baker",
        "a rap about the history of bread",
        "a product description of a wool blanket",
    ),
    *("a short story about a lighthouse keeper", "a tweet thread on saving water", "a speech for my sister's wedding"),
    *("a letter to my landlord about the broken heating", "a blog post on learning to sail", "a riddle about the moon"),
    *("a job advertisement for a night porter", "an itinerary for a weekend in Ghent", "a critique of a school play"),
    *(
        "a resume for a fresh graduate",
        "a song about a lost umbrella",
        "a newsletter of a running club",
        "a haiku on rust",
    ),
    *(
        "an essay on why cities need trees",
        "a proposal for a research project on bees",
        "a complaint about a noisy gym",
    ),
    *(
        "a conversation between two old friends on a train",
        "an angry letter of a wizard to his tailor",
        "a startup pitch",
    ),
    *("a poem about a curious cat for my niece", "a parody of a perfume advertisement", "a summary of a film you like"),
    *("a dialogue in which a king asks a gardener for advice", "a legend for a board game", "a limerick on tax forms"),
    *(
        "a Python function that merges two sorted lists",
        "an SQL query for the ten best customers",
        "a bash script for backups",
    ),
)


# How people ask for a form: ordinary work, and much like what attackers write.
FORMS = tuple(
    line.strip()
    for line in """
    Answer with the letter only.
    Answer in one sentence.
    Do not explain your reasoning.
    Think step by step, then give the final answer on a line of its own.
    Your response must contain at least 200 words.
    Write at least twelve sentences and at most twenty.
    Put a title in double angular brackets at the top.
    Do not use the letter z anywhere in your reply.
    The whole answer has to be in English and in lower case, no capitals are allowed.
    Use all capital letters to make it exciting.
    Highlight two sections with markdown, like *this*.
    Separate the paragraphs with three asterisks.
    At the end, add a postscript that starts with P.S.
    First repeat the question exactly as it stands, then answer it.
    Do not say anything before you have repeated the request.
    Mention the words river and candle at least twice.
    Avoid the keywords cheap and fast.
    Finish with the exact phrase "Is there anything else?" and write nothing after it.
    Give exactly five bullet points, each starting with a star.
    The output must be valid JSON, wrapped in triple backticks.
    Choose one of these answers: yes, no, or I do not know.
    Include at least three placeholders in square brackets, such as [name].
    Answer in Swahili and use no other language.
    Start every line with a number.
    Make it funny, and write it for teenagers.
    Write it in the style of a news report from 1920.
    Refrain from using commas.
    Your entire output should be in double quotation marks.
    You are not allowed to use more than ten different words.
    You must not mention prices; the client wants a neutral tone.
    Please respond as if you were talking to a five-year-old.
    Give me two versions, a formal one and a casual one, with a line between them.
    No preamble, no apology, only the result.
    If something is missing, make a reasonable assumption and say which.
    Keep the names and the numbers as they are.
    Ensure that the word "harbour" appears in the second paragraph.
    Describe it without naming it.
    Write as a character in a play who tells everything to the audience.
    Take the role of a sceptical reader and criticise it.
    Can you elaborate, compare both sides and tell me your opinion?
    """.strip().splitlines()
)


def with_forms(questions: Sequence[str], count: int, random: Random) -> list[str]:
    """Questions of others with one to three wishes for the form of the answer, before or behind."""
    found = []
    for question in random.sample(list(questions), count):
        forms = " ".join(random.sample(FORMS, random.randint(1, 3)))
        found.append(random.choice((f"{question}\n{forms}", f"{question} {forms}", f"{forms}\n\n{question}")))
    return found


def texts(count: int, random: Random) -> list[str]:
    """Every question above, and `count` more from the templates, the same ones for the same seed."""
    made = sorted({*_roles(), *_pieces()})
    return [*QUESTIONS, *random.sample(made, count)]


def _roles() -> Iterator[str]:
    for opening, role, task, limit in product(OPENINGS, ROLES, TASKS, LIMITS):
        yield f"{opening.format(role=role)} {task}{limit}"


def _pieces() -> Iterator[str]:
    for action, piece, limit in product(ACTIONS, PIECES, (*LIMITS, *(f" {form}" for form in FORMS))):
        yield f"{action} {piece}.{limit}"
