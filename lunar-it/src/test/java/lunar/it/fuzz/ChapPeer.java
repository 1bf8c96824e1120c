package lunar.it.fuzz;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.Secret;
import lunar.iscsi.text.KeyValue;
import lunar.iscsi.text.TextKeys;

/** Answers a CHAP challenge correctly, or in one of the ways that the target must reject. */
final class ChapPeer {
    private static final int MAX_KEYS = 1000;

    private ChapPeer() {}

    /** The Login Request that answers; {@code challenge} is the text of the response which asks. */
    static byte[] answer(Plan.ChapTurn turn, byte[] challenge) {
        SeededRandom random = SeededRandom.of(turn.salt(), 0);
        try {
            TextKeys keys = TextKeys.parse(MemorySegment.ofArray(challenge), MAX_KEYS);
            if (keys.first("CHAP_A").isEmpty() || keys.first("CHAP_I").isEmpty()) {
                return random.bytes(100); // the other half of a text in two PDUs, provoked by many unknown keys
            }
            ChapAlgorithm algorithm = ChapAlgorithm
                    .of(keys.first("CHAP_A").orElseThrow().number()).orElseThrow();
            int identifier = (int) keys.first("CHAP_I").orElseThrow().number();
            byte[] asked = keys.first("CHAP_C").orElseThrow().bytes();
            Secret secret = turn.mutated() && random.percent(30)
                    ? Secret.of("not the secret of it")
                    : Peers.READER.secret();
            byte[] response = algorithm.response(identifier, secret, asked);
            var said = new ArrayList<KeyValue>();
            said.add(new KeyValue("CHAP_N", turn.mutated() && random.percent(20)
                    ? "nobody"
                    : Peers.READER.name()));
            said.add(KeyValue.binary("CHAP_R", turn.mutated() && random.percent(20)
                    ? random.bytes(random.ofInts(1, 15, 16, 17, 32, 500))
                    : response));
            if (turn.mutual()) {
                said.add(KeyValue.of("CHAP_I", random.below(256)));
                said.add(KeyValue.binary("CHAP_C",
                        turn.mutated() && random.percent(30)
                                ? asked // reflected
                                : random.bytes(random.ofInts(16, 16, 1, 24, 1024))));
            }
            if (turn.mutated() && random.percent(20)) {
                said.remove(random.below(said.size()));
            }
            byte[] header = turn.requestHeader().clone();
            header[1] = (byte) 0x81; // T, from security to operational
            Wire request = Wire.of(header, new byte[0], new TextKeys(said).write()
                    .toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
            request.lengths();
            List<Wire> requests = List.of(request);
            if (turn.mutated() && random.percent(30)) {
                requests = new Mutator(random).mutate(requests);
            }
            var out = new ByteArrayOutputStream();
            requests.forEach(each -> each.write(out, false, false));
            return out.toByteArray();
        } catch (ProtocolException e) {
            throw new FuzzFailure("a challenge that cannot be read", e);
        }
    }
}
