"""Each kind: a text with it, one with a wrong check digit, and one without the words that a weak shape needs."""

import pytest

from heterodyne.safety.pii.finder import PIIFinder
from heterodyne.safety.pii.registry import LOCALES

FOUND = [
    ("email", "write to ann.other+news@mail.example.co.uk today", "ann.other+news@mail.example.co.uk"),
    ("email", "Is it zed@host.example. Or not?", "zed@host.example"),
    ("phone", "dial +49 30 901820 now", "+49 30 901820"),
    ("phone", "call me at (415) 555-0132 please", "(415) 555-0132"),
    ("phone", "ring 415-555-0132 ext 12", "415-555-0132 ext 12"),
    ("phone", "my mobile: 07700 900461", "07700 900461"),
    ("iban", "pay to GB82 WEST 1234 5698 7654 32 by noon", "GB82 WEST 1234 5698 7654 32"),
    ("iban", "konto de89370400440532013000", "de89370400440532013000"),
    ("credit_card", "use 4111-1111-1111-1111 for it", "4111-1111-1111-1111"),
    ("credit_card", "amex 378282246310005", "378282246310005"),
    ("ip_address", "host 10.20.30.40:8080 is down", "10.20.30.40"),
    ("ip_address", "ping 2001:db8::42 twice", "2001:db8::42"),
    ("mac_address", "nic 00:1A:2b:3c:4D:5e up", "00:1A:2b:3c:4D:5e"),
    ("url", "see https://example.org/a?b=c.", "https://example.org/a?b=c"),
    ("crypto_address", "send 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2 some", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"),
    ("crypto_address", "to bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
    (
        "crypto_address",
        "from 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",  # the example of EIP-55
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    ),
    ("date_of_birth", "she was born on 3 March 1984 in a barn", "3 March 1984"),
    ("date_of_birth", "DOB: 1984-03-03", "1984-03-03"),
    ("date", "due 2024-05-06T07:08:09Z sharp", "2024-05-06T07:08:09Z"),
    ("age", "a 41 year old patient", "41"),
    ("age", "he just turned 52.", "52"),
    ("age", "I’m 52.", "52"),
    ("age", "im 52 and new here", "52"),
    ("age", "my cousin is 52.", "52"),
    ("age", "Name: J., age=52; weight=80", "52"),
    ("age", "Age (52)", "52"),
    ("age", "52 years young", "52"),
    ("age", "between the ages of 52 and you know what", "52"),
    ("postal_code", "ZIP: 90210", "90210"),
    ("us_ssn", "social security 512-34-5678", "512-34-5678"),
    ("us_itin", "my ITIN is 912-71-3456", "912-71-3456"),
    ("us_passport", "passport A12345678", "A12345678"),
    ("us_driver_license", "driver's license number D1234567", "D1234567"),
    ("us_npi", "provider NPI 1234567893", "1234567893"),
    ("us_mbi", "Medicare 1EG4-TE5-MK73", "1EG4-TE5-MK73"),
    ("us_aba_routing", "routing number 021000021", "021000021"),
    ("us_medical_license", "DEA AB1234563", "AB1234563"),
    ("uk_nhs", "NHS 943 476 5919", "943 476 5919"),
    ("uk_nino", "national insurance AB 12 34 56 C", "AB 12 34 56 C"),
    ("uk_driving_licence", "licence JONES812105AB9XY", "JONES812105AB9XY"),
    ("uk_postcode", "near SW1A 2AA today", "SW1A 2AA"),
    ("ca_sin", "SIN 130 692 544", "130 692 544"),
    ("au_abn", "ABN 51 824 753 556", "51 824 753 556"),
    ("au_acn", "ACN 004 085 616", "004 085 616"),
    ("au_tfn", "tax file number 123 456 782", "123 456 782"),
    ("au_medicare", "medicare 2123 45670 1", "2123 45670 1"),
    ("de_tax_id", "Steuer-ID 86095742719", "86095742719"),
    ("de_tax_number", "Steuernummer 93/815/08152", "93/815/08152"),
    ("de_health_insurance", "Krankenkasse A123456780", "A123456780"),
    ("de_driving_licence", "Führerschein BO12345678A", "BO12345678A"),
    ("de_number_plate", "Kennzeichen HH-AB 123", "HH-AB 123"),
    ("de_postal_code", "PLZ 20095", "20095"),
    ("es_nif", "DNI 12345678Z", "12345678Z"),
    ("es_nie", "NIE X1234567L", "X1234567L"),
    ("es_passport", "pasaporte PAB123456", "PAB123456"),
    ("it_fiscal_code", "codice RSSMRA85T10A562S", "RSSMRA85T10A562S"),
    ("it_vat", "partita IVA 07643520567", "07643520567"),
    ("pl_pesel", "PESEL 44051401359", "44051401359"),
    ("pl_nip", "NIP 123-456-32-18", "123-456-32-18"),
    ("fi_personal_identity_code", "hetu 131052-308T", "131052-308T"),
    ("se_personnummer", "personnummer 811218-9876", "811218-9876"),
    ("in_aadhaar", "aadhaar 2345 6789 0124", "2345 6789 0124"),
    ("in_pan", "PAN ABCPE1234F", "ABCPE1234F"),
    ("in_passport", "passport K1234567", "K1234567"),
    ("in_voter", "voter card ABC1234567", "ABC1234567"),
    ("kr_rrn", "resident 900101-1234568", "900101-1234568"),
    ("kr_brn", "사업자등록번호 220-81-62517", "220-81-62517"),
    ("kr_passport", "여권번호는 M123B4567입니다", "M123B4567"),
    ("th_tnin", "Thai ID 1101700230708", "1101700230708"),
    ("sg_nric", "NRIC S1234567D", "S1234567D"),
    ("cn_resident_id", "身份证 11010519491231002X", "11010519491231002X"),
    ("tr_national_id", "TC kimlik 10000000146", "10000000146"),
    ("tr_phone", "telefon 0532 765 43 21", "0532 765 43 21"),
    ("fr_nir", "NIR 2 55 08 14 168 025 38", "2 55 08 14 168 025 38"),
    ("nl_bsn", "BSN 111222333", "111222333"),
    ("be_national_number", "rijksregisternummer 85.07.30-033.28", "85.07.30-033.28"),
    ("br_cpf", "CPF 529.982.247-25", "529.982.247-25"),
    ("us_bank_number", "checking account 123456789012", "123456789012"),
    ("uk_passport", "passport 123456789", "123456789"),
    ("uk_number_plate", "registration AB12 CDE", "AB12 CDE"),
    ("ca_postal_code", "postal code K1A 0B1", "K1A 0B1"),
    ("de_passport", "Reisepass T22000124", "T22000124"),
    ("de_id_card", "Personalausweis T22000124", "T22000124"),
    ("de_id_card", "Personalausweis T220001293", "T220001293"),
    ("it_identity_card", "carta d'identità CA00000AA", "CA00000AA"),
    ("it_passport", "passaporto YA1234567", "YA1234567"),
    ("it_driver_license", "patente MI1234567X", "MI1234567X"),
    ("pl_identity_card", "dowód ABA300000", "ABA300000"),
    ("se_organisationsnummer", "organisationsnummer 556016-0680", "556016-0680"),
    ("in_gstin", "invoice of 27AAPFU0939F1ZV", "27AAPFU0939F1ZV"),
    ("in_vehicle_registration", "my car MH 12 AB 1234", "MH 12 AB 1234"),
    ("sg_uen", "UEN 200312345A", "200312345A"),
    ("tr_number_plate", "plaka 34 ABC 123", "34 ABC 123"),
]

NOT_FOUND = [
    ("email", "a @ b and user@ or @handle"),
    ("iban", "GB83 WEST 1234 5698 7654 32"),
    ("iban", "the length is wrong: DE8937040044053201300"),
    ("credit_card", "card 4111-1111-1111-1112"),
    ("credit_card", "order 630427373398"),  # a rare range needs the word
    ("ip_address", "version 1.2.3, at 12:34:56, std::vector, 300.1.1.1"),
    ("crypto_address", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3"),
    ("crypto_address", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed"),
    ("date_of_birth", "the release of 1984-03-03"),
    ("age", "wait 41 minutes, see page 12, an average of 51"),
    ("age", "page: 12, image (13), stage=14, language - 15, age: 16%, age: 1.7"),
    ("postal_code", "about 90210 users"),
    ("us_ssn", "social security 000-12-3456"),
    ("us_ssn", "invoice 512345678"),
    ("us_npi", "NPI 1234567890"),
    ("us_passport", "ticket A12345678"),
    ("us_driver_license", "order D1234567"),
    ("us_aba_routing", "routing number 021000022"),
    ("us_aba_routing", "parcel 021000021"),
    ("uk_nhs", "NHS 943 476 5918"),
    ("uk_postcode", "QV1 1AA is none"),
    ("ca_sin", "SIN 130 692 545"),
    ("au_tfn", "tax file number 123 456 783"),
    ("de_tax_id", "Steuer-ID 86095742718"),
    ("de_postal_code", "for 20095 users"),
    ("de_id_card", "Personalausweis T220001294, X1234567L1"),
    ("es_nif", "DNI 12345678A"),
    ("es_nie", "NIE X1234567M"),
    ("pl_pesel", "PESEL 44051401358"),
    ("fi_personal_identity_code", "hetu 131052-308U"),
    ("se_personnummer", "personnummer 811218-9875"),
    ("in_aadhaar", "aadhaar 2345 6789 0123"),
    ("kr_brn", "사업자등록번호 220-81-62518"),
    ("th_tnin", "Thai ID 1101700230709"),
    ("sg_nric", "NRIC S1234567E"),
    ("cn_resident_id", "11010519491231002 or 110105194912310021"),
    ("tr_national_id", "TC kimlik 10000000147"),
    ("fr_nir", "NIR 2 55 08 14 168 025 39"),
    ("nl_bsn", "BSN 111222334"),
    ("br_cpf", "CPF 529.982.247-26"),
]


@pytest.mark.parametrize(("kind", "text", "value"), FOUND)
def test_a_kind_is_found_in_a_sentence(kind, text, value):
    found = {(finding.rule, text[finding.start : finding.end]) for finding in PIIFinder([kind]).find(text)}
    assert (kind, value) in found


@pytest.mark.parametrize(("kind", "text"), NOT_FOUND)
def test_a_wrong_check_digit_or_a_weak_shape_alone_is_not_reported(kind, text):
    assert PIIFinder([kind]).find(text) == []


def test_every_kind_of_every_locale_has_an_example():
    assert {recogniser.rule for pack in LOCALES.values() for recogniser in pack} <= {kind for kind, _, _ in FOUND}


@pytest.mark.parametrize(
    "text", ["Age 33", "aged 33, of Leeds", "I'm 33 and tired", "My son is 7.", "Alter: 33 Jahre alt"]
)
def test_an_age_is_found_where_a_text_begins_with_it_too(text):
    assert [finding.rule for finding in PIIFinder(["age"]).find(text)] == ["age"]
