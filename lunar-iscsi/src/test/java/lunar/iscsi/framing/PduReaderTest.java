package lunar.iscsi.framing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import lunar.iscsi.DigestException;
import lunar.iscsi.IscsiException;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.pdu.Bhs;
import org.junit.jupiter.api.Test;

class PduReaderTest {
    private static final Framing BOTH = new Framing(true, true, 1 << 20, 1020);
    private static final Framing NONE = new Framing(false, false, 1 << 20, 1020);

    @Test
    void shouldDeliverPdusOfAnySegmentation() throws IscsiException {
        for (int round = 0; round < 150; round++) {
            long seed = Long.getLong("lunar.seed", System.nanoTime());
            var random = new Random(seed);
            var framing = new Framing(random.nextBoolean(), random.nextBoolean(), 1 << 20, 1020);
            List<FramedPdu> sent = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                sent.add(randomPdu(random));
            }
            byte[] stream = stream(sent, framing);
            var shell = new ReaderShell(2048 + random.nextInt(64 * 1024));
            shell.reader.framing(framing);
            shell.destinations = length -> switch (random.nextInt(3)) {
                case 0 -> MemorySegment.NULL;
                case 1 -> Arena.ofAuto().allocate(length);
                default -> MemorySegment.ofArray(new byte[length]);
            };
            int longest = 1 << random.nextInt(4, 18);
            for (int at = 0; at < stream.length;) {
                int to = Math.min(stream.length, at + random.nextInt(1, longest + 1));
                shell.feed(stream, at, to);
                at = to;
            }
            assertThat(shell.received).as("seed %d, %s", seed, framing).isEqualTo(sent);
            assertThat(shell.digestErrors).as("seed %d", seed).isEmpty();
            assertThat(shell.reader.inPdu()).as("seed %d", seed).isFalse();
        }
    }

    @Test
    void shouldDeliverTheSamePdusWithPauses() throws IscsiException {
        long seed = Long.getLong("lunar.seed", System.nanoTime());
        var random = new Random(seed);
        int pauses = 0;
        for (int round = 0; round < 50; round++) {
            var framing = new Framing(random.nextBoolean(), random.nextBoolean(), 1 << 20, 1020);
            List<FramedPdu> sent = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                sent.add(randomPdu(random));
            }
            byte[] stream = stream(sent, framing);
            var shell = new ReaderShell(2048 + random.nextInt(64 * 1024));
            shell.reader.framing(framing);
            shell.afterReceived = () -> shell.reader.pause(random.nextBoolean());
            int longest = 1 << random.nextInt(4, 18);
            for (int at = 0; at < stream.length;) {
                int to = Math.min(stream.length, at + random.nextInt(1, longest + 1));
                shell.feed(stream, at, to);
                at = to;
            }
            assertThat(shell.received).as("seed %d, %s", seed, framing).isEqualTo(sent);
            pauses += shell.pausedTurns;
        }
        assertThat(pauses).as("seed %d", seed).isPositive();
    }

    @Test
    void shouldDeliverNothingAfterThePduThatPausesIt() throws IscsiException {
        var shell = shell(NONE);
        List<FramedPdu> sent = List.of(pdu(1, 0, 0), pdu(2, 0, 100), pdu(3, 0, 0));
        byte[] stream = stream(sent, NONE);
        MemorySegment staging = Arena.ofAuto().allocate(64 * 1024);
        staging.copyFrom(MemorySegment.ofArray(stream));
        shell.afterReceived = () -> shell.reader.pause(true);
        shell.reader.consume(staging, stream.length);
        for (int i = 1; i <= 3; i++) {
            assertThat(shell.received).isEqualTo(sent.subList(0, i));
            assertThat(shell.reader.isHolding()).isEqualTo(i < 3);
            shell.reader.pause(false);
            shell.reader.consume(staging, shell.reader.restore(staging));
        }
        assertThat(shell.reader.inPdu()).isFalse();
    }

    @Test
    void shouldRejectAWrongHeaderDigest() throws IscsiException {
        FramedPdu pdu = pdu(3, 0, 100);
        byte[] wire = pdu.wire(BOTH);
        for (int at : new int[]{0, 20, 48, 51}) {
            byte[] damaged = wire.clone();
            damaged[at] ^= 0x10;
            var shell = shell(BOTH);
            assertThatExceptionOfType(DigestException.class).as("byte %d", at)
                    .isThrownBy(() -> shell.feed(damaged));
            assertThat(shell.received).isEmpty();
            assertThat(shell.destinationsAsked).isZero();
        }
    }

    @Test
    void shouldReportAWrongDataDigestAndContinue() throws IscsiException {
        FramedPdu bad = pdu(1, 4, 101);
        FramedPdu good = pdu(2, 0, 50);
        byte[] stream = stream(List.of(bad, good), BOTH);
        int dataAt = 48 + 4 + 4;
        // In the data, in the padding, in the digest itself.
        for (int damagedAt : new int[]{dataAt, dataAt + 101, dataAt + 107}) {
            byte[] damaged = stream.clone();
            damaged[damagedAt] ^= 1;
            for (int cut = 0; cut < damaged.length; cut++) {
                var shell = shell(BOTH);
                shell.feed(damaged, 0, cut);
                shell.feed(damaged, cut, damaged.length);
                assertThat(shell.digestErrors).as("byte %d, cut %d", damagedAt, cut)
                        .containsExactly(new FramedPdu(bad.bhs(), "", ""));
                assertThat(shell.received).as("byte %d, cut %d", damagedAt, cut)
                        .containsExactly(good);
            }
        }
    }

    @Test
    void shouldRejectDataOverTheLimitBeforeAskingForRoom() throws IscsiException {
        var limit = new Framing(false, false, 512, 0);
        var shell = shell(limit);
        shell.feed(pdu(1, 0, 512).wire(limit));
        assertThat(shell.received).hasSize(1);
        byte[] header = HexFormat.of().parseHex(pdu(1, 0, 513).bhs());
        assertThatExceptionOfType(ProtocolException.class).isThrownBy(() -> shell.feed(header))
                .withMessageContaining("513").withMessageContaining("512");
        assertThat(shell.destinationsAsked).isEqualTo(1);
        assertThat(shell.reader.destination()).isNull();
    }

    @Test
    void shouldRejectHeaderSegmentsOverTheLimit() {
        var limit = new Framing(true, false, 512, 16);
        var shell = shell(limit);
        byte[] header = HexFormat.of().parseHex(pdu(1, 20, 0).bhs());
        assertThatExceptionOfType(ProtocolException.class).isThrownBy(() -> shell.feed(header))
                .withMessageContaining("20 bytes");
        assertThat(shell.received).isEmpty();
    }

    @Test
    void shouldDeliverNothingAfterStop() throws IscsiException {
        byte[] stream = stream(List.of(pdu(1, 0, 8), pdu(2, 0, 8), pdu(3, 0, 8)), NONE);
        var shell = shell(NONE);
        shell.afterReceived = () -> {
            if (shell.received.size() == 2) {
                shell.reader.stop();
            }
        };
        shell.feed(stream);
        shell.feed(stream);
        assertThat(shell.received).hasSize(2);
    }

    @Test
    void shouldDeliverNothingWhenStoppedWhileRequestedADestination() throws IscsiException {
        byte[] stream = pdu(1, 0, 300).wire(NONE);
        for (int cut : new int[]{100, stream.length}) {
            var shell = shell(NONE);
            shell.destinations = length -> {
                shell.reader.stop();
                return Arena.ofAuto().allocate(length);
            };
            shell.feed(stream, 0, cut);
            assertThat(shell.received).isEmpty();
            assertThat(shell.reader.destination()).isNull();
        }
    }

    @Test
    void shouldRejectADestinationOfAnotherLength() {
        var shell = shell(NONE);
        shell.destinations = length -> MemorySegment.ofArray(new byte[length + 1]);
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> shell.feed(pdu(1, 0, 300).wire(NONE)));
    }

    @Test
    void shouldRespectANewFramingFromTheNextPduOn() throws IscsiException {
        FramedPdu first = pdu(1, 0, 30);
        FramedPdu second = pdu(2, 8, 31);
        byte[] plain = first.wire(NONE);
        byte[] digested = second.wire(BOTH);
        var shell = shell(NONE);
        shell.feed(plain, 0, 60);
        shell.reader.framing(BOTH); // amid the first one
        shell.feed(plain, 60, plain.length);
        shell.feed(digested);
        assertThat(shell.received).containsExactly(first, second);
    }

    @Test
    void shouldDetectEndOfStreamInsideAPdu() throws IscsiException {
        byte[] wire = pdu(1, 4, 5).wire(BOTH);
        var shell = shell(BOTH);
        assertThat(shell.reader.inPdu()).isFalse();
        for (int at = 0; at < wire.length; at++) {
            shell.feed(wire, at, at + 1);
            assertThat(shell.reader.inPdu()).as("after %d of %d bytes", at + 1, wire.length)
                    .isEqualTo(at + 1 < wire.length);
            assertThat(shell.reader.holdsTlsAlert()).isFalse();
        }
    }

    @Test
    void shouldKnowTheAlertOfATlsPortalDuringALogin() throws IscsiException {
        byte[] alert = HexFormat.of().parseHex("15030300020228"); // fatal, handshake_failure
        var login = new ReaderShell();
        for (int at = 0; at < alert.length; at++) {
            assertThat(login.reader.holdsTlsAlert()).isFalse();
            login.feed(alert, at, at + 1);
        }
        assertThat(login.reader.holdsTlsAlert()).isTrue();
        var later = shell(NONE);
        later.feed(alert, 0, alert.length);
        assertThat(later.reader.holdsTlsAlert()).isFalse();
    }

    private static ReaderShell shell(Framing framing) {
        var shell = new ReaderShell();
        shell.reader.framing(framing);
        return shell;
    }

    private static byte[] stream(List<FramedPdu> pdus, Framing framing) {
        var out = new ByteArrayOutputStream();
        pdus.forEach(pdu -> out.writeBytes(pdu.wire(framing)));
        return out.toByteArray();
    }

    private static FramedPdu pdu(long seed, int ahsBytes, int dataBytes) {
        var random = new Random(seed);
        byte[] bhs = new byte[Bhs.LENGTH];
        byte[] ahs = new byte[ahsBytes];
        byte[] data = new byte[dataBytes];
        random.nextBytes(bhs);
        random.nextBytes(ahs);
        random.nextBytes(data);
        new Bhs().wrap(MemorySegment.ofArray(bhs)).lengths(ahsBytes, dataBytes);
        return FramedPdu.of(bhs, ahs, data);
    }

    private static FramedPdu randomPdu(Random random) {
        int ahs = random.nextInt(3) > 0 ? 0 : random.nextInt(256) * 4;
        int data = switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> random.nextInt(1, 20);
            case 2 -> random.nextInt(10_000);
            default -> random.nextInt(150_000);
        };
        return pdu(random.nextLong(), ahs, data);
    }
}
