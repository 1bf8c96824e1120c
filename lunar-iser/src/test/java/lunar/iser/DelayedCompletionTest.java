package lunar.iser;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.spi.Transport.Release;
import org.junit.jupiter.api.Test;

/** Tests that no buffer is released or reused before the device has completed the operations on it. */
class DelayedCompletionTest {
    private static final MemorySegment NONE = MemorySegment.NULL;
    private static final int BYTES = 100_000;

    private final HoldingDevice initiatorDevice = HoldingDevice.over(TestPair.device());
    private final HoldingDevice targetDevice = HoldingDevice.over(TestPair.device());
    private final MemorySegment buffer = Arena.ofAuto().allocate(BYTES);
    private final AtomicInteger released = new AtomicInteger();
    private final Release release = released::incrementAndGet;

    private static void command(TestEnd initiator, int itt, boolean reads, MemorySegment buffer,
            Release release) {
        initiator.transport().sendCommand(
                TestPair.command(itt, reads, !reads, BYTES, 0).bytes(), NONE,
                reads ? buffer : NONE, reads ? NONE : buffer, release);
        initiator.transport().flush();
    }

    /** Lets the loop of an end run some turns, in which it could release a buffer too early. */
    private static void letRun(TestEnd end) throws Exception {
        for (int i = 0; i < 5; i++) {
            var turned = new CompletableFuture<Boolean>();
            end.transport().loop().execute(() -> turned.complete(true));
            assertThat(turned.get(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void shouldKeepDataInUntilTheWriteIsReported() throws Exception {
        try (var pair = TestPair.of(TestPair.device(), targetDevice.device())) {
            TestEnd initiator = TestPair.begin(pair.connect());
            TestEnd target = TestPair.begin(pair.accepted());
            command(initiator, 1, true, Arena.ofAuto().allocate(BYTES), Release.NOTHING);
            var _ = target.next(ScsiCommand.OPCODE);
            targetDevice.hold();
            target.transport().send(TestPair.pdu(DataIn.OPCODE, 1).lengths(0, BYTES).bytes(),
                    buffer, release);
            target.transport().send(TestPair.pdu(ScsiResponse.OPCODE, 1).bytes(), NONE,
                    Release.NOTHING);
            target.transport().flush();
            var _ = initiator.next(ScsiResponse.OPCODE);
            letRun(target);
            assertThat(released).as("the device has not reported the write").hasValue(0);
            targetDevice.letGo();
            IserTransportTest.await(() -> released.get() == 1);
        }
    }

    @Test
    void shouldKeepDataOfAnAbortedConnectionUntilFlushed() throws Exception {
        try (var pair = TestPair.of(TestPair.device(), targetDevice.device())) {
            TestEnd initiator = TestPair.begin(pair.connect());
            TestEnd target = TestPair.begin(pair.accepted());
            command(initiator, 1, true, Arena.ofAuto().allocate(BYTES), Release.NOTHING);
            command(initiator, 2, false, Arena.ofAuto().allocate(BYTES), Release.NOTHING);
            var _ = target.next(ScsiCommand.OPCODE);
            var _ = target.next(ScsiCommand.OPCODE);
            targetDevice.hold();
            target.transport().send(TestPair.pdu(DataIn.OPCODE, 1).lengths(0, BYTES).bytes(),
                    buffer, release);
            target.transport().fetch(TestPair.pdu(R2t.OPCODE, 2).int32(Pdu.TTT, 1)
                    .int32(R2t.DESIRED_DATA_TRANSFER_LENGTH, BYTES).bytes(),
                    Arena.ofAuto().allocate(BYTES), release);
            target.transport().flush();
            target.transport().abort();
            letRun(target);
            assertThat(released).as("nothing is flushed yet").hasValue(0);
            assertThat(target.isClosed()).isFalse();
            assertThat(pair.targetLoops().messageBuffersInUse()).isPositive();
            targetDevice.letGo();
            assertThat(target.end()).isPresent();
            assertThat(released).hasValue(2);
            assertThat(pair.targetLoops().messageBuffersInUse()).isZero();
            var _ = initiator.end();
        }
    }

    @Test
    void shouldKeepCommandBuffersWhileThePeerCanAccessThem() throws Exception {
        try (var pair = TestPair.of(initiatorDevice.device(), TestPair.device())) {
            TestEnd initiator = TestPair.begin(pair.connect());
            TestEnd target = TestPair.begin(pair.accepted());
            command(initiator, 1, true, buffer, release);
            command(initiator, 2, false, Arena.ofAuto().allocate(BYTES), release);
            var _ = target.next(ScsiCommand.OPCODE);
            var _ = target.next(ScsiCommand.OPCODE);
            initiatorDevice.hold();
            initiator.transport().abort();
            letRun(initiator);
            assertThat(released).as("the endpoint is not flushed yet").hasValue(0);
            assertThat(initiator.isClosed()).isFalse();
            initiatorDevice.letGo();
            assertThat(initiator.end()).isPresent();
            assertThat(released).hasValue(2);
            var _ = target.end();
        }
    }

    @Test
    void shouldCopyDataInOfAResponseDeliveredAfterTheEnd() throws Exception {
        try (var pair = TestPair.create()) {
            TestEnd initiator = TestPair.begin(pair.connect());
            TestEnd target = TestPair.begin(pair.accepted());
            MemorySegment into = MemorySegment.ofArray(new byte[BYTES]);
            command(initiator, 1, true, into, release);
            command(initiator, 2, true, MemorySegment.ofArray(new byte[BYTES]), release);
            var _ = target.next(ScsiCommand.OPCODE);
            var _ = target.next(ScsiCommand.OPCODE);
            reading(initiator, false);
            buffer.fill((byte) 7);
            var written = new AtomicInteger();
            target.transport().send(TestPair.pdu(DataIn.OPCODE, 1).lengths(0, BYTES).bytes(),
                    buffer, written::incrementAndGet);
            target.transport().send(TestPair.pdu(ScsiResponse.OPCODE, 1).bytes(), NONE,
                    Release.NOTHING);
            target.transport().flush();
            IserTransportTest.await(() -> written.get() == 1); // a close waits for 2 s only
            target.transport().close();
            var _ = target.end();
            // The endpoint is closed; the response has not been delivered.
            IserTransportTest.await(() -> pair.initiatorLoops().messageBuffersInUse() == 1);
            assertThat(released).as("the response was not delivered").hasValue(0);
            reading(initiator, true);
            var _ = initiator.next(ScsiResponse.OPCODE);
            assertThat(into.toArray(ValueLayout.JAVA_BYTE)).containsOnly((byte) 7);
            var _ = initiator.end();
            assertThat(released).hasValue(2);
        }
    }

    private static void reading(TestEnd end, boolean on) throws Exception {
        boolean _ = end.inLoop(transport -> {
            transport.reading(on);
            return true;
        });
    }

    @Test
    void shouldEndOnlyTheConnectionOfAReleaseThatThrows() throws Exception {
        try (var pair = TestPair.of(TestPair.device(), targetDevice.device())) {
            TestEnd initiator = TestPair.begin(pair.connect());
            TestEnd target = TestPair.begin(pair.accepted());
            TestEnd otherInitiator = TestPair.begin(pair.connect());
            TestEnd otherTarget = TestPair.begin(pair.accepted());
            command(initiator, 1, true, Arena.ofAuto().allocate(BYTES), Release.NOTHING);
            command(otherInitiator, 1, true, Arena.ofAuto().allocate(BYTES), Release.NOTHING);
            var _ = target.next(ScsiCommand.OPCODE);
            var _ = otherTarget.next(ScsiCommand.OPCODE);
            targetDevice.hold(); // so that the completions of both connections are reported together
            var calls = new AtomicInteger();
            answer(target, () -> {
                calls.incrementAndGet();
                throw new IllegalStateException("a release that fails");
            }, release);
            answer(otherTarget, release);
            var _ = initiator.next(ScsiResponse.OPCODE);
            var _ = otherInitiator.next(ScsiResponse.OPCODE);
            targetDevice.letGo();
            assertThat(target.end()).hasValueSatisfying(
                    why -> assertThat(why).hasMessageContaining("a release that fails"));
            IserTransportTest.await(() -> released.get() == 2);
            assertThat(calls).hasValue(1);
            assertThat(otherTarget.isClosed()).isFalse();
            command(otherInitiator, 2, true, Arena.ofAuto().allocate(BYTES), Release.NOTHING);
            var _ = otherTarget.next(ScsiCommand.OPCODE);
        }
    }

    /** Sends the data-in of command 1, in one part for each release, and its response. */
    private void answer(TestEnd target, Release... releases) {
        int part = BYTES / releases.length;
        for (int i = 0; i < releases.length; i++) {
            target.transport().send(TestPair.pdu(DataIn.OPCODE, 1).lengths(0, part)
                    .int32(DataIn.BUFFER_OFFSET, i * part).bytes(),
                    buffer.asSlice(i * part, part), releases[i]);
        }
        target.transport().send(TestPair.pdu(ScsiResponse.OPCODE, 1).bytes(), NONE,
                Release.NOTHING);
        target.transport().flush();
    }

    @Test
    void shouldReleaseAllBuffersWhenTheLoopEnds() throws Exception {
        try (var pair = TestPair.of(TestPair.device(), targetDevice.device())) {
            TestEnd initiator = TestPair.begin(pair.connect());
            TestEnd target = TestPair.begin(pair.accepted());
            command(initiator, 1, true, Arena.ofAuto().allocate(BYTES), Release.NOTHING);
            var _ = target.next(ScsiCommand.OPCODE);
            targetDevice.hold();
            target.transport().send(TestPair.pdu(DataIn.OPCODE, 1).lengths(0, BYTES).bytes(),
                    buffer, release);
            target.transport().flush();
            target.transport().abort();
            letRun(target);
            assertThat(released).hasValue(0);
            pair.targetLoops().close(); // closes the endpoint, which ends all access to memory
            assertThat(target.isClosed()).isTrue();
            assertThat(released).hasValue(1);
            var _ = initiator.end();
        }
    }
}
