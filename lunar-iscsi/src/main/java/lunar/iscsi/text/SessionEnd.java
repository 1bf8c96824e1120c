package lunar.iscsi.text;

import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Isid;

/**
 * Asks a server to end another session of the asking initiator, by the private key {@value #KEY} (RFC 7143 section
 * 13.26). Session reinstatement does that within a portal group; this is for a session in a group of which no portal
 * answers. A target that does not know the key answers NotUnderstood.
 *
 * <pre>
 * X-org.lunar.EndSession=Instance                          asks which server this is
 * X-org.lunar.EndSession=UUID                              the answer, another one after each start of the server
 * X-org.lunar.EndSession=UUID,ISID,portal group,target     asks for the end of a session
 * X-org.lunar.EndSession=Ended | Ending                    the answer
 * </pre>
 *
 * <p>{@code Ending} says that commands of the session have not ended yet: the initiator asks again. A server answers
 * for itself alone: where the UUID is not its own it answers Reject, since it cannot know about the session. Only
 * sessions of the initiator name that asks are ended, and only where it has proved as much as session reinstatement
 * would ask for: else the answer is Reject too. An initiator that asks through the target of the session must have
 * logged in as the same CHAP user. Through another target it suffices that the session's target asks for no CHAP now,
 * or would take the user of the asking session with the same secret.
 *
 * @param server the server that has the session
 * @param isid of the session that is to end
 * @param portalGroupTag in which it is
 * @param targetName at which it is
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

        /** Ends a session of the initiator that asks; empty where that may not. Does not block. */
        Optional<Answer> end(SessionEnd asked);
    }

    /** Asks a server which one it is. */
    public static TextKeys question() {
        return TextKeys.of(new KeyValue(KEY, INSTANCE));
    }

    /** Which server has answered {@link #question}; empty where it does not know the key. */
    public static Optional<UUID> instance(TextKeys answered) {
        return answered.first(KEY).map(KeyValue::value).filter(value -> value.matches(UUID_FORM))
                .map(UUID::fromString);
    }

    /** Asks for the end. */
    public TextKeys request() {
        return TextKeys.of(new KeyValue(KEY,
                server + "," + isid + "," + portalGroupTag + "," + targetName));
    }

    /** Returns the server's answer; empty where it refuses, or does not know the key. */
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
            throw new ProtocolException(asked + " is not server,ISID,group,target");
        }
        var request = new SessionEnd(UUID.fromString(form.group(1)),
                new Isid(HexFormat.fromHexDigitsToLong(form.group(2))),
                Integer.parseInt(form.group(3)), form.group(4));
        return new KeyValue(KEY, request.server().equals(server.instance())
                ? server.end(request).map(answer -> answer.text).orElse(KeyValue.REJECT)
                : KeyValue.REJECT);
    }
}
