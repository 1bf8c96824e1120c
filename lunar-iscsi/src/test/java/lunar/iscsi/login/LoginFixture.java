package lunar.iscsi.login;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.pdu.LoginStage;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.TextKeys;

/** Requests, responses and policies for tests of the login. */
final class LoginFixture {
    static final String INITIATOR = "iqn.2026-01.org.lunar:initiator";
    static final String TARGET = "iqn.2026-01.org.lunar:disk";
    static final Isid ISID = Isid.random(0x123456, 1);
    static final ChapCredentials USER = new ChapCredentials("reader",
            Secret.of("secret-of-reader"));
    static final ChapCredentials OWN = new ChapCredentials("writer",
            Secret.of("secret-of-target"));
    static final LoginPolicy.Admission.Accept ACCEPT = LoginPolicy.Admission.Accept
            .newSession(Offer.DEFAULT, 1, 7);

    private LoginFixture() {}

    static TargetLogin target(LoginPolicy.Admission admission) {
        return new TargetLogin(_ -> admission, challenges(1), LoginLimits.DEFAULT);
    }

    /** Different bytes with each call. */
    static ChallengeSource challenges(int seed) {
        var random = new Random(seed);
        return count -> {
            byte[] bytes = new byte[count];
            random.nextBytes(bytes);
            return bytes;
        };
    }

    /** The keys of a first request of a normal session, and more. */
    static String names(String... more) {
        return "InitiatorName=" + INITIATOR + ",TargetName=" + TARGET + ",SessionType=Normal"
                + (more.length == 0 ? "" : "," + String.join(",", more));
    }

    /** An operational request that asks for the full feature phase; pairs are separated by commas, lists by ;. */
    static LoginAsk last(String pairs) {
        return ask(LoginStage.OPERATIONAL, LoginStage.FULL_FEATURE, true, false, pairs);
    }

    /** A request of the security stage that asks for the operational stage. */
    static LoginAsk security(String pairs) {
        return ask(LoginStage.SECURITY, LoginStage.OPERATIONAL, true, false, pairs);
    }

    static LoginAsk ask(LoginStage stage, LoginStage next, boolean transit, boolean more,
            String pairs) {
        return new LoginAsk(transit, more, stage, next, 0, 0, ISID, 0, 3, keys(pairs).write());
    }

    static TextKeys keys(String pairs) {
        var list = new ArrayList<KeyValue>();
        if (!pairs.isEmpty()) {
            for (String pair : pairs.split(",")) {
                int equals = pair.indexOf('=');
                list.add(new KeyValue(pair.substring(0, equals),
                        pair.substring(equals + 1).replace(';', ',')));
            }
        }
        return new TextKeys(list);
    }

    static LoginAnswer answer(LoginStage stage, boolean transit, int tsih, String pairs) {
        return new LoginAnswer(transit, false, stage,
                stage == LoginStage.SECURITY ? LoginStage.OPERATIONAL : LoginStage.FULL_FEATURE, 0,
                0, ISID, tsih, 0, 0, keys(pairs).write());
    }

    static LoginAnswer refusal(int statusClass, int detail, String pairs) {
        return new LoginAnswer(false, false, LoginStage.SECURITY, LoginStage.SECURITY, 0, 0,
                new Isid(0), 0, statusClass, detail, keys(pairs).write());
    }

    static List<String> said(TargetLogin.Step step) throws ProtocolException {
        return said(step.answer().text());
    }

    static List<String> said(MemorySegment text) throws ProtocolException {
        return TextKeys.parse(text, 256).pairs().stream()
                .map(pair -> pair.key() + "=" + pair.value()).toList();
    }

    /** Result of a login between both ends: the last step of each. */
    record Outcome(InitiatorLogin.Step initiator, TargetLogin.Step target) {}

    /** Lets both ends talk until one of them has ended. */
    static Outcome talk(InitiatorLogin initiator, TargetLogin target) {
        var ask = initiator.first();
        while (true) {
            // Headers go through the records that a connection sends.
            var step = target.receive(LoginAsk.of(ask.request(1, 1, 1), ask.text()));
            var answer = step.answer();
            var reply = initiator
                    .receive(LoginAnswer.of(answer.response(1, 1, 1, 1), answer.text()));
            if (!(reply instanceof InitiatorLogin.Send(var next))) {
                return new Outcome(reply, step);
            }
            ask = next;
        }
    }
}
