package lunar.iscsi.login;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.text.Key;
import lunar.iscsi.text.Key.Rule;
import lunar.iscsi.text.Key.Sender;
import lunar.iscsi.text.KeyValue;

/**
 * Negotiates the operational keys of a login at one end (RFC 7143 section 6.2 and chapter 13): proposals, responses and
 * results. Every key is negotiated once.
 */
final class Negotiation {
    private final Sender self;
    private final Terms terms;
    private final SessionType sessionType;
    private final Optional<OperationalParameters> session;
    private final Map<Key, String> settled = new EnumMap<>(Key.class);
    private final Map<Key, String> proposed = new EnumMap<>(Key.class);
    private final Map<Key, Long> declaredByPeer = new EnumMap<>(Key.class);
    private final Map<Key, Long> declaredBySelf = new EnumMap<>(Key.class);

    /**
     * @param self INITIATOR or TARGET
     * @param session the session that the connection joins: leading-only keys are settled by it
     */
    Negotiation(Sender self, Offer offer, SessionType sessionType,
            Optional<OperationalParameters> session) {
        assert self != Sender.BOTH;
        this.self = self;
        this.terms = new Terms(sessionType == SessionType.DISCOVERY
                ? offer.withMaxConnections(1)
                : offer);
        this.sessionType = sessionType;
        this.session = session;
    }

    /** Returns all proposals and declarations of an initiator at once. */
    List<KeyValue> proposals() {
        var pairs = new ArrayList<KeyValue>();
        for (Key key : terms.proposed()) {
            if (isUsable(key)) {
                String value = terms.proposal(key);
                proposed.put(key, value);
                pairs.add(new KeyValue(key.text(), value));
            }
        }
        pairs.addAll(declarations(terms.offer().iser().isPresent()));
        return pairs;
    }

    /** Returns the declarations of a target in its first operational response. */
    List<KeyValue> declarations() {
        return declarations(isRdma());
    }

    /**
     * Processes pairs of the peer: responses to proposals of this end, declarations and proposals.
     *
     * @return responses, in the order of the peer's proposals
     */
    List<KeyValue> receive(List<KeyValue> pairs) throws ProtocolException {
        // Keys on which others depend come first: the response to FirstBurstLength needs MaxBurstLength, regardless of
        // order.
        var answers = new EnumMap<Key, String>(Key.class);
        for (var pair : pairs) {
            if (isLeader(pair)) {
                receive(pair, answers);
            }
        }
        for (var pair : pairs) {
            if (!isLeader(pair)) {
                receive(pair, answers);
            }
        }
        var ordered = new ArrayList<KeyValue>();
        for (var pair : pairs) {
            var key = Key.of(pair.key());
            var answer = key.map(answers::get);
            if (answer.isPresent()) {
                ordered.add(new KeyValue(pair.key(), answer.get()));
            } else if (key.isEmpty() && !pair.declines()) { // never answer an answer
                ordered.add(new KeyValue(pair.key(), KeyValue.NOT_UNDERSTOOD));
            }
        }
        return ordered;
    }

    /** Ends the negotiation: nothing may be open. */
    void finish() throws ProtocolException {
        for (var open : proposed.entrySet()) {
            Key key = open.getKey();
            String value = open.getValue();
            // Section 6.2.2: the answer may be left out where the proposal decides alone.
            boolean decided = (key.rule() instanceof Rule.Or && value.equals("Yes"))
                    || (key.rule() instanceof Rule.And && value.equals("No"));
            if (!decided) {
                throw new ProtocolException("the peer did not answer " + key.text() + "=" + value
                        + " (RFC 7143 section 6.2)");
            }
            settled.put(key, value);
        }
        proposed.clear();
        terms.checkDigest(Key.HEADER_DIGEST, value(Key.HEADER_DIGEST));
        terms.checkDigest(Key.DATA_DIGEST, value(Key.DATA_DIGEST));
        checkBursts();
        checkRdma();
    }

    /** A connection with a transport that offers iSER can carry a normal session in no other way. */
    private void checkRdma() throws ProtocolException {
        if (terms.offer().iser().isPresent() && sessionType == SessionType.NORMAL && !isRdma()) {
            throw new ProtocolException("RDMAExtensions=Yes is required on this connection, and the"
                    + " peer does not agree (RFC 7145 section 6.3)");
        }
    }

    /** Returns the agreed parameters. */
    OperationalParameters parameters() {
        boolean header = value(Key.HEADER_DIGEST).equals("CRC32C");
        boolean data = value(Key.DATA_DIGEST).equals("CRC32C");
        boolean rdma = isRdma();
        int initiatorLength = number(Key.INITIATOR_RECV_LENGTH);
        int targetLength = number(Key.TARGET_RECV_LENGTH);
        int receive = declared(declaredBySelf, Key.MAX_RECV_DATA_SEGMENT_LENGTH).intValue();
        int send = declared(declaredByPeer, Key.MAX_RECV_DATA_SEGMENT_LENGTH).intValue();
        if (rdma) { // RFC 7145 section 6: these stand for MaxRecvDataSegmentLength
            receive = self == Sender.INITIATOR ? initiatorLength : targetLength;
            send = self == Sender.INITIATOR ? targetLength : initiatorLength;
        }
        int longest = terms.offer().iser().map(own -> self == Sender.INITIATOR
                ? own.targetReceiveDataSegmentLength()
                : own.initiatorReceiveDataSegmentLength()).orElse(send);
        send = Math.min(send, longest); // also in discovery, where the peer declares what it likes
        Optional<OperationalParameters.Iser> iser = rdma
                ? Optional.of(iser(initiatorLength, targetLength))
                : Optional.empty();
        var whole = session.orElseGet(this::leading);
        return new OperationalParameters(header, data, whole.maxConnections(), whole.initialR2t(),
                whole.immediateData(), receive, send, whole.maxBurstLength(),
                whole.firstBurstLength(), whole.defaultTime2WaitSeconds(),
                whole.defaultTime2RetainSeconds(), whole.maxOutstandingR2t(),
                whole.dataPduInOrder(), whole.dataSequenceInOrder(), whole.errorRecoveryLevel(),
                whole.taskReporting(), whole.protocolLevel(), iser);
    }

    /** Whether iSER is agreed on. */
    boolean isRdma() {
        return session.isPresent()
                ? session.get().iser().isPresent()
                : value(Key.RDMA_EXTENSIONS).equals("Yes");
    }

    private void receive(KeyValue pair, Map<Key, String> answers) throws ProtocolException {
        var known = Key.of(pair.key());
        if (known.isEmpty()) {
            return;
        }
        Key key = known.get();
        if (key.use() == Key.Use.SECURITY) {
            throw new ProtocolException(
                    pair + " after the security stage (RFC 7143 chapter 12)");
        }
        if (proposed.containsKey(key)) {
            settle(key, pair);
            return;
        }
        boolean declarative = key.rule() instanceof Rule.Declared
                || key.rule() instanceof Rule.YesNo;
        if (pair.declines() && (key.sender() == self || declarative)) {
            return; // LIO answers declarations this way on a second connection
        }
        if (key.sender() == self) {
            throw new ProtocolException(
                    pair + " from the wrong end (RFC 7143 chapter 13, the key's senders)");
        }
        if (settled.containsKey(key)) {
            throw new ProtocolException(pair + " was negotiated before (RFC 7143 section 6.2)");
        }
        if (pair.declines()) {
            throw new ProtocolException(pair + " answers no proposal (RFC 7143 section 6.2)");
        }
        if (!hasAnswer(key)) {
            if (!declarative) {
                answers.put(key,
                        key.use() == Key.Use.LEADING && session.isPresent()
                                ? KeyValue.REJECT
                                : KeyValue.IRRELEVANT);
            }
        } else if (declarative) {
            declare(key, pair);
        } else {
            answers.put(key, answer(key, pair));
        }
    }

    /** Takes a declaration of the peer. A value out of range is an error, because declarations have no response. */
    private void declare(Key key, KeyValue pair) throws ProtocolException {
        long number = key.rule() instanceof Rule.YesNo ? (pair.isYes() ? 1 : 0) : pair.number();
        if (key.rule() instanceof Rule.Declared && !key.admits(number)) {
            throw new ProtocolException(pair + " is out of range (RFC 7143 chapter 13)");
        }
        if (declaredByPeer.put(key, number) != null) {
            throw new ProtocolException(pair + " was declared before (RFC 7143 section 6.2)");
        }
    }

    /** Answers a proposal of the peer and settles the key. */
    private String answer(Key key, KeyValue pair) throws ProtocolException {
        if (key.rule() instanceof Rule.Obsolete(String answer)) {
            return answer;
        }
        String answer;
        try {
            answer = terms.answer(key, pair);
        } catch (ProtocolException _) {
            answer = KeyValue.REJECT; // section 6.2.2: a value that is not admissible; the default stays
        }
        if (answer.equals(KeyValue.REJECT)) {
            terms.checkDigest(key, key.defaultValue());
            settled.put(key, key.defaultValue());
            return answer;
        }
        if (key == Key.FIRST_BURST_LENGTH
                && Long.parseLong(answer) > number(Key.MAX_BURST_LENGTH)) {
            answer = value(Key.MAX_BURST_LENGTH); // section 13.14
        }
        settled.put(key, answer);
        if (key == Key.MAX_BURST_LENGTH) {
            checkBursts();
        }
        return answer;
    }

    /** Takes the answer to a proposal of ours. */
    private void settle(Key key, KeyValue pair) throws ProtocolException {
        String proposal = proposed.remove(key);
        if (pair.declines()) {
            settled.put(key, key.defaultValue());
            return;
        }
        if (!terms.isAnswer(key, proposal == null ? "" : proposal, pair)) {
            throw new ProtocolException(
                    pair + " is not a valid response to " + key.text() + "=" + proposal
                            + " (RFC 7143 section 6.2)");
        }
        settled.put(key, key.rule() instanceof Rule.Min || key.rule() instanceof Rule.Max
                ? Long.toString(pair.number())
                : pair.value());
    }

    private void checkBursts() throws ProtocolException {
        if (settled.containsKey(Key.FIRST_BURST_LENGTH)
                && number(Key.FIRST_BURST_LENGTH) > number(Key.MAX_BURST_LENGTH)) {
            throw new ProtocolException("FirstBurstLength=" + value(Key.FIRST_BURST_LENGTH)
                    + " is over MaxBurstLength=" + value(Key.MAX_BURST_LENGTH)
                    + " (RFC 7143 section 13.14)");
        }
    }

    private List<KeyValue> declarations(boolean rdma) {
        Set<Key> keys = EnumSet.noneOf(Key.class);
        if (rdma) {
            if (session.isEmpty() && self == Sender.INITIATOR) {
                keys.addAll(EnumSet.of(Key.MAX_UNEXPECTED_PDUS, Key.MAX_AHS_LENGTH,
                        Key.TAGGED_BUFFER_ONLY, Key.ISER_HELLO));
            } else if (session.isEmpty()) {
                keys.addAll(EnumSet.of(Key.MAX_UNEXPECTED_PDUS, Key.MAX_AHS_LENGTH));
                if (!peerKnowsRfc7145()) { // open-iscsi gives a login up at a key that it does not know
                    keys.retainAll(declaredByPeer.keySet());
                }
            }
        } else {
            keys.add(Key.MAX_RECV_DATA_SEGMENT_LENGTH);
        }
        var pairs = new ArrayList<KeyValue>();
        for (Key key : keys) {
            if (!declaredBySelf.containsKey(key)) {
                long number = terms.declaration(key);
                declaredBySelf.put(key, number);
                pairs.add(key.rule() instanceof Rule.YesNo
                        ? KeyValue.of(key.text(), number != 0)
                        : KeyValue.of(key.text(), number));
            }
        }
        return pairs;
    }

    /** Whether the peer has declared a key that RFC 7145 has added to those of RFC 5046. */
    private boolean peerKnowsRfc7145() {
        return declaredByPeer.containsKey(Key.MAX_AHS_LENGTH)
                || declaredByPeer.containsKey(Key.TAGGED_BUFFER_ONLY)
                || declaredByPeer.containsKey(Key.ISER_HELLO);
    }

    /** Whether a key means something in this session and on this connection. */
    private boolean isUsable(Key key) {
        return !(sessionType == SessionType.DISCOVERY && key.isIrrelevantInDiscovery())
                && !(key.use() == Key.Use.LEADING && session.isPresent());
    }

    /**
     * Whether a proposal of the peer is answered with a value. In discovery most keys are irrelevant; but some
     * initiators fail when told so, and a value is harmless. A target that proposes such a key in its last response
     * cannot use a value and is told that it is irrelevant.
     */
    private boolean hasAnswer(Key key) {
        if (self == Sender.INITIATOR || key.needsRdma() || key == Key.RDMA_EXTENSIONS) {
            return isUsable(key) && (!key.needsRdma() || isRdma());
        }
        return key.use() != Key.Use.LEADING || session.isEmpty();
    }

    private static boolean isLeader(KeyValue pair) {
        return pair.key().equals(Key.MAX_BURST_LENGTH.text())
                || pair.key().equals(Key.RDMA_EXTENSIONS.text());
    }

    private OperationalParameters leading() {
        int maxBurst = number(Key.MAX_BURST_LENGTH);
        // An end that lowered MaxBurstLength alone left the default of FirstBurstLength above it.
        int firstBurst = Math.min(number(Key.FIRST_BURST_LENGTH), maxBurst);
        return new OperationalParameters(false, false, number(Key.MAX_CONNECTIONS),
                isYes(Key.INITIAL_R2T), isYes(Key.IMMEDIATE_DATA), 0, 0, maxBurst, firstBurst,
                number(Key.DEFAULT_TIME2WAIT), number(Key.DEFAULT_TIME2RETAIN),
                number(Key.MAX_OUTSTANDING_R2T), isYes(Key.DATA_PDU_IN_ORDER),
                isYes(Key.DATA_SEQUENCE_IN_ORDER), number(Key.ERROR_RECOVERY_LEVEL),
                Terms.taskReporting(value(Key.TASK_REPORTING)), number(Key.PROTOCOL_LEVEL),
                Optional.empty());
    }

    private OperationalParameters.Iser iser(int initiatorLength, int targetLength) {
        if (session.isPresent() && session.get().iser().isPresent()) {
            var whole = session.get().iser().get();
            return new OperationalParameters.Iser(initiatorLength, targetLength,
                    whole.maxOutstandingUnexpectedPdus(), whole.maxAhsLengthBytes(),
                    whole.taggedBufferForSolicitedDataOnly(), whole.helloRequired());
        }
        var initiators = self == Sender.INITIATOR ? declaredBySelf : declaredByPeer;
        // The default is No. But initiators from before RFC 7145 do not know the key, and do as with Yes: Linux and
        // libiscsi among them.
        long untold = self == Sender.INITIATOR || peerKnowsRfc7145() ? 0 : 1;
        return new OperationalParameters.Iser(initiatorLength, targetLength,
                declared(declaredByPeer, Key.MAX_UNEXPECTED_PDUS),
                declared(declaredByPeer, Key.MAX_AHS_LENGTH),
                initiators.getOrDefault(Key.TAGGED_BUFFER_ONLY, untold) != 0,
                initiators.getOrDefault(Key.ISER_HELLO, 0L) != 0);
    }

    private String value(Key key) { return settled.getOrDefault(key, key.defaultValue()); }

    private int number(Key key) { return Integer.parseInt(value(key)); }

    private boolean isYes(Key key) { return value(key).equals("Yes"); }

    private static Long declared(Map<Key, Long> by, Key key) {
        return by.getOrDefault(key, Long.valueOf(key.defaultValue()));
    }
}
