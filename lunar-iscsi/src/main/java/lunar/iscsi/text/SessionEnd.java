package lunar.iscsi.text;

import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Isid;

/**
 * Requests that a server end another session of the same initiator, by the private key {@value #KEY} (RFC 7143 section
 * 13.26). Session reinstatement does that within a portal group; this key is for a session in a group whose portals do
 * not respond. A target that does not know the key answers NotUnderstood.
 *
 * <pre>
 * X-org.lunar.EndSession=Instance                          asks which server this is
 * X-org.lunar.EndSession=UUID                              the answer, another one after each start of the server
 * X-org.lunar.EndSession=UUID,ISID,portal group,target     asks for the end of a session
 * X-org.lunar.EndSession=Ended | Ending                    the answer
 * </pre>
 *
 * <p>{@code Ending} means that commands of the session have not ended yet: the initiator repeats the request. A server
 * answers for itself only: if the UUID is not its own it answers Reject, because it cannot know the session. Only
 * sessions of the requesting initiator name are ended, and only if it is authenticated as required for session
 * reinstatement; otherwise the response is Reject too. Through the target of the session, the initiator must have
 * logged in as the same CHAP user. Through another target, the session's target must require no CHAP now, or accept the
 * user of the requesting session with the same secret.
 *
 * @param server the server that has the session
 * @param isid ISID of the session to end
 * @param portalGroupTag its portal group
 * @param targetName its target
 */
public record SessionEnd(UUID server, Isid isid, int portalGroupTag, String targetName) {
    /** The key. */
    public static final String KEY = "X-org.lunar.EndSession";

    private static final String INSTANCE = "Instance";
    private static final String UUID_FORM = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
    private static final Pattern FORM = Pattern
            .compile("(" + UUID_FORM + "),([0-9a-f]{12}),([0-9]{1,5}),(\\S{1,223})");
    private static final int MAX_TAG = 0xffff;

    /** Answers of a server to the request for an end. */
    public enum Answer {
        /** No such session is left, nor a command of it. */
        ENDED("Ended"),
        /** The session is being ended. */
        ENDING("Ending");

        private final String text;

        Answer(String text) { this.text = text; }
    }

    /** A server that ends sessions. */
    public interface Server {
        /** Which one it is: made at random at its start. */
        UUID instance();

        /** Ends a session of the initiator that asks; empty if that may not. Does not block. */
        Optional<Answer> end(SessionEnd asked);
    }

    /** Asks a server which one it is. */
    public static TextKeys question() {
        return TextKeys.of(new KeyValue(KEY, INSTANCE));
    }

    /** Which server has answered {@link #question}; empty if it does not know the key. */
    public static Optional<UUID> instance(TextKeys answered) {
        return answered.first(KEY).map(KeyValue::value).filter(value -> value.matches(UUID_FORM))
                .map(UUID::fromString);
    }

    /** Asks for the end. */
    public TextKeys request() {
        return TextKeys.of(new KeyValue(KEY,
                server + "," + isid + "," + portalGroupTag + "," + targetName));
    }

    /** Returns the server's answer; empty if it refuses, or does not know the key. */
    public static Optional<Answer> answer(TextKeys answered) {
        Optional<String> value = answered.first(KEY).map(KeyValue::value);
        for (Answer each : Answer.values()) {
            if (value.isPresent() && value.get().equals(each.text)) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    /** The server's side. */
    public static KeyValue respond(KeyValue asked, Server server) throws ProtocolException {
        if (asked.value().equals(INSTANCE)) {
            return new KeyValue(KEY, server.instance().toString());
        }
        Matcher form = FORM.matcher(asked.value());
        if (!form.matches() || Integer.parseInt(form.group(3)) > MAX_TAG) {
            throw new ProtocolException(asked + " is not of the form server,ISID,group,target");
        }
        var request = new SessionEnd(UUID.fromString(form.group(1)),
                new Isid(HexFormat.fromHexDigitsToLong(form.group(2))),
                Integer.parseInt(form.group(3)), form.group(4));
        return new KeyValue(KEY, request.server().equals(server.instance())
                ? server.end(request).map(answer -> answer.text).orElse(KeyValue.REJECT)
                : KeyValue.REJECT);
    }
}
