package lunar.iscsi.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.session.SequenceVerdict;
import org.junit.jupiter.api.Test;

/** Tests both ends of a transfer with each other, and with a hostile peer, with random parameters. */
class DataTransferPropertyTest {
    private static final long SEED = Long.getLong("lunar.seed", 7_143L);
    private static final int RUNS = 2_000;

    private record Pdu(int ttt, int dataSn, int offset, int length, boolean isFinal) {}

    private record R2t(int ttt, int sn, int offset, int length) {}

    private final Random random = new Random(SEED);

    @Test
    void shouldTransferEveryByteOfAWriteExactlyOnce() throws ProtocolException {
        for (int run = 0; run < RUNS; run++) {
            String where = "run " + run + " of seed " + SEED;
            var rules = rules();
            int bytes = random.nextInt(6 * rules.maxBurstBytes());
            int wanted = random.nextInt(4) > 0 ? bytes : random.nextInt(2 * bytes + 1);
            var plan = new DataOutPlan(rules, 1 + random.nextInt(4096));
            var transfer = new WriteTransfer(rules);
            var seen = new Bytes(bytes);

            plan.begin(bytes);
            var result = transfer.begin(bytes, wanted, plan.immediateBytes(),
                    plan.isCommandFinal());
            seen.add(0, plan.immediateBytes(), where);
            plan.unsolicited();
            if (plan.next()) {
                result = send(plan, Bhs.NO_TAG, transfer, seen, where);
            }
            var asked = new ArrayDeque<R2t>();
            int tag = random.nextInt(1 << 30);
            while (!transfer.isComplete()) {
                assertThat(result.accepted()).as(where).isTrue();
                while (transfer.wantsR2t()) {
                    transfer.planR2t(tag);
                    asked.add(new R2t(tag++, transfer.r2tSn(), transfer.r2tOffset(),
                            transfer.r2tLength()));
                }
                assertThat(asked.size()).as(where).isBetween(1, rules.maxOutstandingR2t());
                var r2t = asked.remove();
                plan.answer(r2t.sn(), r2t.offset(), r2t.length());
                assertThat(plan.next()).isTrue();
                result = send(plan, r2t.ttt(), transfer, seen, where);
            }
            assertThat(result).as(where).isEqualTo(DataOutResult.COMPLETE);
            assertThat(asked).as(where).isEmpty();
            seen.checkPrefix(transfer.receivedBytes(), where);
            assertThat(transfer.receivedBytes()).as(where).isGreaterThanOrEqualTo(
                    transfer.neededBytes());
            assertThat(transfer.residual()).isEqualTo(Residual.of(bytes, wanted));
        }
    }

    private static DataOutResult send(DataOutPlan plan, int ttt, WriteTransfer transfer,
            Bytes seen, String where) {
        DataOutResult result;
        do {
            result = transfer.dataOut(ttt, plan.dataSn(), plan.offset(), plan.length(),
                    plan.isFinal());
            assertThat(result.accepted()).as(where + " " + result).isTrue();
            seen.add(plan.offset(), plan.length(), where);
        } while (plan.next());
        return result;
    }

    @Test
    void shouldAcceptShuffledPdusIffDataPduInOrderIsNo() throws ProtocolException {
        for (int run = 0; run < RUNS; run++) {
            String where = "run " + run + " of seed " + SEED;
            boolean pduInOrder = random.nextBoolean();
            var rules = new BurstRules(512, 8192, 1, true, false, pduInOrder, true);
            int bytes = 1 + random.nextInt(8192);
            var plan = new DataOutPlan(rules, 1 + random.nextInt(2000) + bytes / 200);
            plan.begin(bytes);
            plan.answer(0, 0, bytes);
            var pieces = new ArrayList<int[]>();
            while (plan.next()) {
                pieces.add(new int[]{plan.offset(), plan.length()});
            }
            var shuffled = new ArrayList<>(pieces);
            Collections.shuffle(shuffled, random);

            var transfer = new WriteTransfer(rules);
            var seen = new Bytes(bytes);
            transfer.begin(bytes, bytes, 0, true);
            transfer.planR2t(5);
            DataOutResult result = DataOutResult.MORE;
            for (int i = 0; i < shuffled.size() && result.accepted(); i++) {
                int[] piece = shuffled.get(i);
                result = transfer.dataOut(5, i, piece[0], piece[1], i == shuffled.size() - 1);
                if (result.accepted()) {
                    seen.add(piece[0], piece[1], where);
                }
            }
            if (!pduInOrder || shuffled.equals(pieces)) {
                assertThat(result).as(where).isEqualTo(DataOutResult.COMPLETE);
                seen.checkPrefix(bytes, where);
            } else {
                assertThat(result).as(where).isEqualTo(DataOutResult.OFFSET_OUT_OF_ORDER);
            }
        }
    }

    @Test
    void shouldAcceptShuffledSequencesIffDataSequenceInOrderIsNo() {
        for (int run = 0; run < RUNS; run++) {
            String where = "run " + run + " of seed " + SEED;
            boolean sequenceInOrder = random.nextBoolean();
            int r2tCount = 2 + random.nextInt(4);
            var rules = new BurstRules(512, 512, r2tCount, true, false, true, sequenceInOrder);
            var transfer = new WriteTransfer(rules);
            transfer.begin(512 * r2tCount, 512 * r2tCount, 0, true);
            var order = new ArrayList<Integer>();
            for (int i = 0; i < r2tCount; i++) {
                transfer.planR2t(i);
                order.add(i);
            }
            var shuffled = new ArrayList<>(order);
            Collections.shuffle(shuffled, random);

            DataOutResult result = DataOutResult.MORE;
            for (int i = 0; i < r2tCount && result.accepted(); i++) {
                int ttt = shuffled.get(i);
                result = transfer.dataOut(ttt, 0, 512 * ttt, 512, true);
            }
            assertThat(result).as(where)
                    .isEqualTo(!sequenceInOrder || shuffled.equals(order)
                            ? DataOutResult.COMPLETE
                            : DataOutResult.SEQUENCE_OUT_OF_ORDER);
        }
    }

    @Test
    void shouldAcceptHostileDataOutWithinBoundsOrNotAtAll() {
        Map<DataOutResult, Integer> met = new HashMap<>();
        for (int run = 0; run < 20 * RUNS; run++) {
            String where = "run " + run + " of seed " + SEED;
            var rules = rules();
            int bytes = random.nextInt(3 * rules.maxBurstBytes());
            var transfer = new WriteTransfer(rules);
            var seen = new Bytes(bytes);
            int immediate = random.nextInt(8) == 0 ? wild(bytes) & Integer.MAX_VALUE : 0;
            boolean isFinal = random.nextInt(8) == 0 ? random.nextBoolean() : rules.initialR2t();
            int wanted = random.nextInt(4) == 0 ? wild(bytes) & Integer.MAX_VALUE : bytes;
            var result = transfer.begin(bytes, wanted, immediate, isFinal);
            met.merge(result, 1, Integer::sum);
            if (result.accepted()) {
                seen.add(0, immediate, where);
            }
            var dataSns = new HashMap<Integer, Integer>();
            int tags = 0;
            int next = transfer.receivedBytes();
            for (int i = 0; i < 16 && result.accepted(); i++) {
                while (transfer.wantsR2t()) {
                    transfer.planR2t(tags++);
                    next = random.nextBoolean() ? transfer.r2tOffset() : next;
                }
                int ttt = tags == 0 ? Bhs.NO_TAG : tags - 1 - random.nextInt(Math.min(tags, 2));
                var pdu = new Pdu(random.nextInt(16) == 0 ? wild(tags) : ttt,
                        random.nextInt(16) == 0 ? wild(2) : dataSns.getOrDefault(ttt, 0),
                        random.nextInt(8) == 0 ? wild(bytes) : next - random.nextInt(3) % 2,
                        random.nextInt(8) == 0 ? wild(bytes) : random.nextInt(512),
                        random.nextInt(6) == 0);
                result = transfer.dataOut(pdu.ttt(), pdu.dataSn(), pdu.offset(), pdu.length(),
                        pdu.isFinal());
                met.merge(result, 1, Integer::sum);
                if (result.accepted()) {
                    seen.add(pdu.offset(), pdu.length(), where);
                    dataSns.merge(pdu.ttt(), 1, Integer::sum);
                    next = pdu.offset() + pdu.length();
                } else {
                    assertThat(result.rule()).isNotEmpty();
                }
            }
            assertThat(seen.total()).as(where)
                    .isEqualTo(transfer.receivedBytes());
        }
        // All but the one that needs hundreds of pieces have been met, so none is dead.
        assertThat(met).hasSize(DataOutResult.values().length - 1);
    }

    @Test
    void shouldReadEveryByteExactlyOnce() throws ProtocolException {
        for (int run = 0; run < RUNS; run++) {
            String where = "run " + run + " of seed " + SEED;
            var rules = rules();
            int expected = random.nextInt(6 * rules.maxBurstBytes());
            int wanted = random.nextBoolean() ? expected : random.nextInt(2 * expected + 1);
            boolean collapse = random.nextBoolean();
            var plan = new DataInPlan(rules, 1 + random.nextInt(4096));
            var receiver = new DataInReceiver(rules);
            var seen = new Bytes(expected);
            plan.begin(expected, wanted, collapse);
            receiver.begin(expected);
            boolean status = false;
            boolean lastWasFinal = true;
            while (plan.next()) {
                assertThat(status).as(where).isFalse();
                assertThat(receiver.accept(plan.dataSn(), plan.offset(), plan.length(),
                        plan.isFinal())).as(where).isEqualTo(SequenceVerdict.IN_ORDER);
                seen.add(plan.offset(), plan.length(), where);
                status = plan.carriesStatus();
                lastWasFinal = plan.isFinal();
            }
            assertThat(lastWasFinal).as(where).isTrue();
            assertThat(status).as(where).isEqualTo(plan.statusSent());
            seen.checkPrefix(plan.bytes(), where);
            assertThat(receiver.finish(status ? receiver.expDataSn() : plan.pduCount(),
                    plan.residual())).as(where).isEqualTo(SequenceVerdict.IN_ORDER);
        }
    }

    @Test
    void shouldAcceptShuffledDataInIffNothingIsInOrder() {
        for (int run = 0; run < RUNS; run++) {
            String where = "run " + run + " of seed " + SEED;
            boolean inOrder = random.nextBoolean();
            var rules = new BurstRules(512, 1 << 20, 1, true, true, inOrder, inOrder);
            int bytes = 1 + random.nextInt(8192);
            var plan = new DataInPlan(rules, 1 + random.nextInt(2000) + bytes / 200);
            plan.begin(bytes, bytes, false);
            var pieces = new ArrayList<int[]>();
            while (plan.next()) {
                pieces.add(new int[]{plan.offset(), plan.length()});
            }
            var shuffled = new ArrayList<>(pieces);
            Collections.shuffle(shuffled, random);
            assertThat(takes(rules, bytes, shuffled)).as(where)
                    .isEqualTo(!inOrder || shuffled.equals(pieces));
        }
    }

    private static boolean takes(BurstRules rules, int bytes, List<int[]> pieces) {
        var receiver = new DataInReceiver(rules);
        receiver.begin(bytes);
        try {
            for (int i = 0; i < pieces.size(); i++) {
                receiver.accept(i, pieces.get(i)[0], pieces.get(i)[1], i == pieces.size() - 1);
            }
            return receiver.finish(pieces.size(), Residual.NONE) == SequenceVerdict.IN_ORDER;
        } catch (ProtocolException _) {
            return false;
        }
    }

    @Test
    void shouldAcceptHostileDataInWithinBoundsOrNotAtAll() {
        int takenCount = 0;
        int refusedCount = 0;
        for (int run = 0; run < 20 * RUNS; run++) {
            String where = "run " + run + " of seed " + SEED;
            var rules = rules();
            int bytes = random.nextInt(3 * rules.maxBurstBytes());
            var receiver = new DataInReceiver(rules);
            receiver.begin(bytes);
            var seen = new Bytes(bytes);
            int next = 0;
            try {
                for (int i = 0; i < 12; i++) {
                    int offset = random.nextInt(3) == 0 ? wild(bytes) : next;
                    int length = random.nextInt(3) == 0 ? wild(bytes) : random.nextInt(512);
                    int dataSn = random.nextInt(5) == 0 ? wild(3) : receiver.expDataSn();
                    if (receiver.accept(dataSn, offset, length,
                            random.nextBoolean()) == SequenceVerdict.IN_ORDER) {
                        seen.add(offset, length, where);
                        next = offset + length;
                        takenCount++;
                    }
                }
            } catch (ProtocolException e) {
                assertThat(e).hasMessageContaining("Data-In");
                refusedCount++;
            }
            assertThat(seen.total()).as(where).isEqualTo(receiver.receivedBytes());
        }
        assertThat(takenCount).isPositive();
        assertThat(refusedCount).isPositive();
    }

    private BurstRules rules() {
        int max = 512 + random.nextInt(8192);
        return new BurstRules(512 + random.nextInt(max - 511), max, 1 + random.nextInt(6),
                random.nextBoolean(), random.nextBoolean(), random.nextBoolean(),
                random.nextBoolean());
    }

    /** A number at or near an edge, or anything at all. */
    private int wild(int around) {
        return switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1 -> around;
            case 2 -> around + 1;
            case 3 -> around - 1;
            case 4 -> -1;
            case 5 -> Integer.MAX_VALUE - random.nextInt(2);
            case 6 -> Integer.MIN_VALUE + random.nextInt(2);
            default -> random.nextInt();
        };
    }

    /** A buffer in which each byte may be written once; out of bounds throws. */
    private static final class Bytes {
        private final boolean[] written;
        private int total;

        Bytes(int length) { written = new boolean[length]; }

        void add(int offset, int length, String where) {
            for (int i = offset; i < offset + length; i++) {
                if (written[i]) {
                    throw new AssertionError("byte " + i + " came twice, " + where);
                }
                written[i] = true;
            }
            total += length;
        }

        int total() { return total; }

        void checkPrefix(int length, String where) {
            assertThat(total).as(where).isEqualTo(length);
            for (int i = 0; i < length; i++) {
                if (!written[i]) {
                    throw new AssertionError("byte " + i + " never came, " + where);
                }
            }
        }
    }
}
