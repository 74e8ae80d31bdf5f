"""Which texts are sensitive."""

from __future__ import annotations

from engram.model.memory import Tier
from engram.rules.sensitivity import tier_of
from tests.tables import every


@every(
    ("text", "tier"),
    [
        ("my card is 4111-1111-1111-1111", Tier.CONFIDENTIAL),
        ("order number 4111-1111-1111-1112 has shipped", Tier.CLEAR),
        ("SSN 123-45-6789", Tier.CONFIDENTIAL),
        ("pay to DE89 3704 0044 0532 0130 00", Tier.CONFIDENTIAL),
        ("the key is sk-proj-abcdefghijklmnopqrstuvwx", Tier.CONFIDENTIAL),
        ("token ghp_abcdefghijklmnopqrstuvwxyz0123456789", Tier.CONFIDENTIAL),
        ("AKIAIOSFODNN7EXAMPLE", Tier.CONFIDENTIAL),
        ("-----BEGIN RSA PRIVATE KEY-----", Tier.CONFIDENTIAL),
        ("password: hunter22", Tier.CONFIDENTIAL),
        ("the Wi-Fi password is correcthorse", Tier.CONFIDENTIAL),
        ("密码是abc12345", Tier.CONFIDENTIAL),
        ("write to anna.b+list@example.org", Tier.SENSITIVE),
        ("call me at +49 170 555 1234", Tier.SENSITIVE),
        ("call 555-123-4567", Tier.SENSITIVE),
        ("the code for the office alarm is 9924#", Tier.CONFIDENTIAL),
        ("locker combination 12-34-56 at the gym", Tier.CONFIDENTIAL),
        ("wifi: BlueHeron / pass: kiwi!tango77", Tier.CONFIDENTIAL),
        ("Mein Passwort für den Router lautet Apfel!2024", Tier.CONFIDENTIAL),
        ("contraseña del correo: Luna#2020", Tier.CONFIDENTIAL),
        ("我的银行卡密码是 665432", Tier.CONFIDENTIAL),
        ("My PIN is now 9034", Tier.CONFIDENTIAL),
        ("use 9034 as PIN from now on", Tier.CONFIDENTIAL),
        ("my password has been changed to hunter22", Tier.CONFIDENTIAL),
        ("我的PIN码现在是9034", Tier.CONFIDENTIAL),
        ("mein Passwort ist jetzt Hase77", Tier.CONFIDENTIAL),
        ("I paid with 4111 1111 1111 1111. It went through.", Tier.CONFIDENTIAL),
        ("卡号4111111111111111", Tier.CONFIDENTIAL),
        ("我妈妈的电话是13653314414。", Tier.SENSITIVE),
        ("DB_PASSWORD=q8Zr7Lk2WmPx9", Tier.CONFIDENTIAL),
        ("use Tulpe#4410 as the password for payroll", Tier.CONFIDENTIAL),
        ("The printer login is admin / Zeb-ra44!", Tier.CONFIDENTIAL),
        ("mon mot de passe wifi est Ch@teau-19", Tier.CONFIDENTIAL),
        ("my 2fa backup codes are 4821-9930 and 7712-0456", Tier.CONFIDENTIAL),
        ("the keypad of the cellar is 4407", Tier.CONFIDENTIAL),
        ("El pin de la tarjeta es 3908", Tier.CONFIDENTIAL),
        ("код от домофона 38К4471", Tier.CONFIDENTIAL),
        ("我的护照E55667788明年到期", Tier.CONFIDENTIAL),
        ("позвони бабушке 8 916 123-45-67", Tier.SENSITIVE),
        ("Recovery codes should be printed and kept in a safe", Tier.CLEAR),
        ("my keypad has 104 keys", Tier.CLEAR),
        ("the gate opens at 0900 and closes at 1800", Tier.CLEAR),
        ("use tabs as the separator, 4 wide", Tier.CLEAR),
        ("token = get_token(session, ttl=3600)", Tier.CLEAR),
        ("die Rechnung vom 03.11.2026", Tier.CLEAR),
        ("Spring 2024 and Engineering 101", Tier.CLEAR),
        ("pin 13 of the chip, opinion 2024", Tier.CLEAR),
        ("error code is 40412 in the log", Tier.CLEAR),
        ("the pass is 1200 m high", Tier.CLEAR),
        ("code review for the gate at 1500", Tier.CLEAR),
        ("the password policy needs 12 characters", Tier.CLEAR),
        ("I like tea", Tier.CLEAR),
        ("version 2.10.3 of 2024-05-06", Tier.CLEAR),
        ("3,000 people in 2019", Tier.CLEAR),
        ("the password was reset yesterday", Tier.CLEAR),
    ],
)
def test_the_tier(text: str, tier: Tier) -> None:
    assert tier_of(text) is tier
