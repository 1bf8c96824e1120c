package lunar.iscsi.login;

import static lunar.iscsi.login.ChapAlgorithm.MD5;
import static lunar.iscsi.login.ChapAlgorithm.SHA1;
import static lunar.iscsi.login.ChapAlgorithm.SHA256;
import static lunar.iscsi.login.ChapAlgorithm.SHA3_256;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import lunar.iscsi.login.InitiatorLogin.Settings;
import lunar.iscsi.pdu.LoginStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the CHAP algorithms and their negotiation. RFC 7143 has no test vectors; {@link ChapTest} has some. */
class ChapAlgorithmTest {
    private static final Settings LOGIN = Settings.normal(LoginFixture.INITIATOR,
            LoginFixture.TARGET, LoginFixture.ISID, Offer.DEFAULT).withChap(LoginFixture.USER);

    @Test
    void shouldReadListsInTheirOrder() {
        assertThat(ChapAlgorithm.parse("sha3-256,sha-256")).containsExactly(SHA3_256, SHA256);
        assertThat(ChapAlgorithm.parse("MD5, SHA1 ,sha256")).containsExactly(MD5, SHA1, SHA256);
        for (ChapAlgorithm each : ChapAlgorithm.values()) {
            assertThat(ChapAlgorithm.parse(each.text())).containsExactly(each);
        }
        assertThat(ChapAlgorithm.DEFAULT_ORDER)
                .containsExactlyInAnyOrder(ChapAlgorithm.values());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`',
            value = {
                    "sha512|'sha512' is not a CHAP algorithm; supported: md5, sha-1, sha-256, sha3-256",
                    "``|'' is not a CHAP algorithm", "md5,|'' is not a CHAP algorithm",
                    "md5,sha-1,MD5|md5 is named twice"})
    void shouldReportErrorsInAList(String list, String words) {
        assertThatThrownBy(() -> ChapAlgorithm.parse(list))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(words);
    }

    @Test
    void shouldOfferInTheOrderOfPreference() throws Exception {
        assertThat(offered(LOGIN)).isEqualTo("CHAP_A=8,6,5,7");
        assertThat(offered(LOGIN.withAlgorithms(List.of(SHA256, SHA3_256))))
                .isEqualTo("CHAP_A=7,8");
        assertThat(offered(LOGIN.withAlgorithms(ChapAlgorithm.DEFAULT_ORDER)))
                .as("tgt, IET and SCST take 7 for SHA-1, so 5 must come before it").endsWith("5,7");
    }

    @Test
    void shouldAgreeOnTheFirstCommonValue() {
        var ends = talk(List.of(SHA3_256, SHA256, SHA1), List.of(MD5, SHA1, SHA256));
        assertThat(ends.initiator()).isInstanceOf(InitiatorLogin.Complete.class);
        assertThat(((TargetLogin.Complete) ends.target()).result().chapUser())
                .contains(LoginFixture.USER.name());
    }

    @Test
    void shouldReportThatNoAlgorithmIsAccepted() {
        var ends = talk(List.of(MD5, SHA1), List.of(SHA3_256, SHA256));
        assertThat(failure(ends.initiator())).contains("authentication failed", "[0201]",
                "none of the CHAP algorithms offered: md5, sha-1").doesNotContain("secret");
        assertThat(((TargetLogin.Fail) ends.target()).reason()).contains(
                "CHAP_A=5,6; accepted: sha3-256, sha-256");
    }

    @Test
    void shouldReportWhatATargetDeclines() throws Exception {
        var login = new InitiatorLogin(LOGIN.withAlgorithms(List.of(SHA3_256)),
                LoginFixture.challenges(1));
        login.first();
        login.receive(LoginFixture.answer(LoginStage.SECURITY, false, 0, "AuthMethod=CHAP"));
        assertThat(failure(login.receive(
                LoginFixture.answer(LoginStage.SECURITY, false, 0, "CHAP_A=Reject"))))
                .contains("CHAP_A=Reject", "offered: sha3-256");
    }

    @Test
    void shouldDetectTargetsThatComputeSha256ForSha1() throws Exception {
        for (int detail : new int[]{0, 1}) {
            var login = new InitiatorLogin(LOGIN.withAlgorithms(List.of(SHA256)),
                    LoginFixture.challenges(1));
            login.first();
            login.receive(
                    LoginFixture.answer(LoginStage.SECURITY, false, 0, "AuthMethod=CHAP"));
            login.receive(LoginFixture.answer(LoginStage.SECURITY, false, 0,
                    "CHAP_A=7,CHAP_I=1,CHAP_C=0x0011"));
            assertThat(failure(login.receive(LoginFixture.refusal(2, detail, ""))))
                    .contains("check the CHAP user and secret", "confuse sha-256 with sha-1");
        }
    }

    private static LoginFixture.Outcome talk(List<ChapAlgorithm> offered,
            List<ChapAlgorithm> accepted) {
        var admission = LoginFixture.ACCEPT
                .withChap(ChapPolicy.of(LoginFixture.USER).withAlgorithms(accepted));
        return LoginFixture.talk(
                new InitiatorLogin(LOGIN.withAlgorithms(offered), LoginFixture.challenges(2)),
                LoginFixture.target(admission));
    }

    private static String offered(Settings settings) throws Exception {
        var login = new InitiatorLogin(settings, LoginFixture.challenges(1));
        login.first();
        var step = login
                .receive(LoginFixture.answer(LoginStage.SECURITY, false, 0, "AuthMethod=CHAP"));
        return LoginFixture.said(((InitiatorLogin.Send) step).ask().text()).getFirst();
    }

    private static String failure(InitiatorLogin.Step step) {
        return String.valueOf(((InitiatorLogin.Fail) step).failure().getMessage());
    }
}
