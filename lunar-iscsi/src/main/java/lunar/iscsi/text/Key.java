package lunar.iscsi.text;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Every text key of RFC 7143 chapters 12 and 13, RFC 7144 and RFC 7145: its value rule, when it may be used and by
 * which end.
 */
public enum Key {
    // Authentication (chapter 12). The constants end in "//" to keep one line each.
    AUTH_METHOD("AuthMethod", Sender.BOTH, Use.SECURITY, new Rule.Security(), "None"), //
    CHAP_A("CHAP_A", Sender.BOTH, Use.SECURITY, new Rule.Security(), ""), //
    CHAP_I("CHAP_I", Sender.BOTH, Use.SECURITY, new Rule.Security(), ""), //
    CHAP_C("CHAP_C", Sender.BOTH, Use.SECURITY, new Rule.Security(), ""), //
    CHAP_N("CHAP_N", Sender.BOTH, Use.SECURITY, new Rule.Security(), ""), //
    CHAP_R("CHAP_R", Sender.BOTH, Use.SECURITY, new Rule.Security(), ""), //

    // Names and addresses
    INITIATOR_NAME("InitiatorName", Sender.INITIATOR, Use.INITIALIZE, new Rule.Text(), ""), //
    INITIATOR_ALIAS("InitiatorAlias", Sender.INITIATOR, Use.ALL, new Rule.Text(), ""), //
    TARGET_NAME("TargetName", Sender.INITIATOR, Use.INITIALIZE, new Rule.Text(), ""), //
    TARGET_ALIAS("TargetAlias", Sender.TARGET, Use.ALL, new Rule.Text(), ""), //
    TARGET_ADDRESS("TargetAddress", Sender.TARGET, Use.ALL, new Rule.Text(), ""), //
    PORTAL_GROUP_TAG("TargetPortalGroupTag", Sender.TARGET, Use.INITIALIZE, declared(0, 65535), ""), //
    SESSION_TYPE("SessionType", Sender.INITIATOR, Use.INITIALIZE, new Rule.Text(), "Normal"), //
    SEND_TARGETS("SendTargets", Sender.INITIATOR, Use.FULL_FEATURE, new Rule.Text(), ""), //

    // Operation
    HEADER_DIGEST("HeaderDigest", Use.INITIALIZE, choice("None", "CRC32C"), "None"), //
    DATA_DIGEST("DataDigest", Use.INITIALIZE, choice("None", "CRC32C"), "None"), //
    MAX_CONNECTIONS("MaxConnections", Use.LEADING, min(1, 65535), "1"), //
    INITIAL_R2T("InitialR2T", Use.LEADING, new Rule.Or(), "Yes"), //
    IMMEDIATE_DATA("ImmediateData", Use.LEADING, new Rule.And(), "Yes"), //
    MAX_RECV_DATA_SEGMENT_LENGTH("MaxRecvDataSegmentLength", Use.ALL, declared(512, Rule.U24),
            "8192"), //
    MAX_BURST_LENGTH("MaxBurstLength", Use.LEADING, min(512, Rule.U24), "262144"), //
    FIRST_BURST_LENGTH("FirstBurstLength", Use.LEADING, min(512, Rule.U24), "65536"), //
    DEFAULT_TIME2WAIT("DefaultTime2Wait", Use.LEADING, new Rule.Max(0, 3600), "2"), //
    DEFAULT_TIME2RETAIN("DefaultTime2Retain", Use.LEADING, min(0, 3600), "20"), //
    MAX_OUTSTANDING_R2T("MaxOutstandingR2T", Use.LEADING, min(1, 65535), "1"), //
    DATA_PDU_IN_ORDER("DataPDUInOrder", Use.LEADING, new Rule.Or(), "Yes"), //
    DATA_SEQUENCE_IN_ORDER("DataSequenceInOrder", Use.LEADING, new Rule.Or(), "Yes"), //
    ERROR_RECOVERY_LEVEL("ErrorRecoveryLevel", Use.LEADING, min(0, 2), "0"), //
    TASK_REPORTING("TaskReporting", Use.LEADING, choice("RFC3720", "ResponseFence", "FastAbort"),
            "RFC3720"), //
    PROTOCOL_LEVEL("iSCSIProtocolLevel", Use.LEADING, min(0, 31), "1"), //

    // iSER (RFC 7145 section 6)
    RDMA_EXTENSIONS("RDMAExtensions", Use.LEADING, new Rule.And(), "No"), //
    TARGET_RECV_LENGTH("TargetRecvDataSegmentLength", Use.INITIALIZE, min(512, Rule.U24), "8192"), //
    INITIATOR_RECV_LENGTH("InitiatorRecvDataSegmentLength", Use.INITIALIZE, min(512, Rule.U24),
            "8192"), //
    MAX_UNEXPECTED_PDUS("MaxOutstandingUnexpectedPDUs", Use.LEADING, declared(0, Rule.U32), "0"), //
    MAX_AHS_LENGTH("MaxAHSLength", Use.LEADING, declared(0, Rule.U32), "256"), //
    TAGGED_BUFFER_ONLY("TaggedBufferForSolicitedDataOnly", Sender.INITIATOR, Use.LEADING,
            new Rule.YesNo(), "No"), //
    ISER_HELLO("iSERHelloRequired", Sender.INITIATOR, Use.LEADING, new Rule.YesNo(), "No"), //

    // Section 13.25: never NotUnderstood; Reject to the intervals, and No is allowed to the markers.
    IF_MARKER("IFMarker", Use.INITIALIZE, new Rule.Obsolete("No"), "No"), //
    OF_MARKER("OFMarker", Use.INITIALIZE, new Rule.Obsolete("No"), "No"), //
    IF_MARK_INT("IFMarkInt", Use.INITIALIZE, new Rule.Obsolete("Reject"), ""), //
    OF_MARK_INT("OFMarkInt", Use.INITIALIZE, new Rule.Obsolete("Reject"), "");

    /** How the value of a key comes about (section 6.2). */
    public sealed interface Rule {
        /** The largest number of 24 bits, as DataSegmentLength has. */
        long U24 = 0xff_ffff;

        /** The largest number of 32 bits. */
        long U32 = 0xffff_ffffL;

        /** The proposer's first value that the acceptor accepts. */
        record Choice(List<String> values) implements Rule {}

        /** Yes if either end says Yes. */
        record Or() implements Rule {}

        /** Yes if both ends say Yes. */
        record And() implements Rule {}

        /** The smaller number. */
        record Min(long low, long high) implements Rule {}

        /** The larger number. */
        record Max(long low, long high) implements Rule {}

        /** A number that one end states; no answer. */
        record Declared(long low, long high) implements Rule {}

        /** Yes or No that one end states; no answer. */
        record YesNo() implements Rule {}

        /** A text that one end states, or a question; no answer of its own. */
        record Text() implements Rule {}

        /** Part of the authentication (section 12). */
        record Security() implements Rule {}

        /** Obsolete since RFC 7143; answered with a fixed value. */
        record Obsolete(String answer) implements Rule {}
    }

    /** When a key may be used (the "Use" line of chapter 13). */
    public enum Use {
        /** SecurityNegotiation only. */
        SECURITY,
        /** During login, on the leading connection of a session only (LO). */
        LEADING,
        /** During login, on every connection (IO). */
        INITIALIZE,
        /** In the full feature phase only (FFPO). */
        FULL_FEATURE,
        /** Always (ALL). */
        ALL
    }

    /** Ends that may send a key on their own initiative. */
    public enum Sender {
        INITIATOR, TARGET, BOTH
    }

    private static final Map<String, Key> BY_TEXT = new HashMap<>();

    static {
        for (var key : values()) {
            BY_TEXT.put(key.text, key);
        }
    }

    private final String text;
    @SuppressWarnings("ImmutableEnumChecker") // records of numbers and of List.of
    private final Rule rule;
    private final Use use;
    private final Sender sender;
    private final String defaultValue;

    Key(String text, Use use, Rule rule, String defaultValue) {
        this(text, Sender.BOTH, use, rule, defaultValue);
    }

    Key(String text, Sender sender, Use use, Rule rule, String defaultValue) {
        this.text = text;
        this.rule = rule;
        this.use = use;
        this.sender = sender;
        this.defaultValue = defaultValue;
    }

    /** The key of a name; empty for one that is not in the RFCs. */
    public static Optional<Key> of(String text) {
        return Optional.ofNullable(BY_TEXT.get(text));
    }

    /** The name on the wire. */
    public String text() { return text; }

    /** How its value comes about. */
    public Rule rule() { return rule; }

    /** When it may be used. */
    public Use use() { return use; }

    /** Returns the ends that may send this key on their own initiative. */
    public Sender sender() {
        return sender;
    }

    /** Returns the default value; empty if there is none. */
    public String defaultValue() {
        return defaultValue;
    }

    /** Whether the key means nothing in a discovery session ("Irrelevant when: SessionType=Discovery"). */
    public boolean isIrrelevantInDiscovery() {
        return switch (this) {
            case MAX_CONNECTIONS, INITIAL_R2T, IMMEDIATE_DATA, MAX_BURST_LENGTH, FIRST_BURST_LENGTH,
                    MAX_OUTSTANDING_R2T, DATA_PDU_IN_ORDER, DATA_SEQUENCE_IN_ORDER, TASK_REPORTING,
                    PROTOCOL_LEVEL, RDMA_EXTENSIONS ->
                true;
            default -> needsRdma();
        };
    }

    /** Whether the key means nothing without RDMAExtensions=Yes (RFC 7145 section 6). */
    public boolean needsRdma() {
        return switch (this) {
            case TARGET_RECV_LENGTH, INITIATOR_RECV_LENGTH,
                    MAX_UNEXPECTED_PDUS, MAX_AHS_LENGTH,
                    TAGGED_BUFFER_ONLY, ISER_HELLO ->
                true;
            default -> false;
        };
    }

    /** Longest value of the key in bytes of text. */
    int maxValueBytes() {
        return this == CHAP_C || this == CHAP_R
                ? KeyValue.MAX_BINARY_TEXT_BYTES
                : KeyValue.MAX_VALUE_BYTES;
    }

    /** Whether a number is in the range of the key. */
    public boolean admits(long number) {
        return switch (rule) {
            case Rule.Min(long low, long high) -> low <= number && number <= high;
            case Rule.Max(long low, long high) -> low <= number && number <= high;
            case Rule.Declared(long low, long high) -> low <= number && number <= high
                    && !(number == 1 && needsRdma()); // 0, or 2 to 2^32-1 (RFC 7145)
            default -> false;
        };
    }

    /** Refuses a number of our own that is out of range. */
    public void check(long number) {
        if (!admits(number)) {
            throw new IllegalArgumentException(text + " out of range: " + number);
        }
    }

    private static Rule choice(String... values) { return new Rule.Choice(List.of(values)); }

    private static Rule min(long low, long high) { return new Rule.Min(low, high); }

    private static Rule declared(long low, long high) { return new Rule.Declared(low, high); }
}
