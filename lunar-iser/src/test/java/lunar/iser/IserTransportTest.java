package lunar.iser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.LogoutRequest;
import lunar.iscsi.pdu.NopIn;
import lunar.iscsi.pdu.NopOut;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.spi.Transport.Release;
import lunar.iscsi.spi.TransportProvider.Registration;
import lunar.testkit.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@link lunar.iser.connection.IserTransport} over libfabric's tcp, PDU by PDU. */
class IserTransportTest {
    private static final MemorySegment NONE = MemorySegment.NULL;

    /** Kind of memory that a buffer is in. */
    enum Place {
        SHORT_HEAP(1000),
        LONG_HEAP(200_000),
        SHORT_NATIVE(1000),
        LONG_NATIVE(200_000),
        POOL(100_000);

        private final int bytes;

        Place(int bytes) { this.bytes = bytes; }

        /** Returns a buffer of this kind, within the given memory if it is native. */
        MemorySegment allocate(MemorySegment pool) {
            return switch (this) {
                case SHORT_HEAP, LONG_HEAP -> MemorySegment.ofArray(new byte[bytes]);
                case SHORT_NATIVE, LONG_NATIVE -> Arena.ofAuto().allocate(bytes);
                case POOL -> pool.asSlice(4096, bytes);
            };
        }
    }

    private final Random random = new Random(Seed.next());
    private final MemorySegment initiatorPool = Arena.ofAuto().allocate(1 << 20, 4096);
    private final MemorySegment targetPool = Arena.ofAuto().allocate(1 << 20, 4096);
    private final TestPair pair;
    private final List<Registration> registrations = new ArrayList<>();
    private final AtomicInteger released = new AtomicInteger();
    private final Release release = released::incrementAndGet;

    IserTransportTest() throws Exception { pair = TestPair.create(); }

    @AfterEach
    void close() {
        pair.close(); // fails if memory is still registered
        registrations.forEach(Registration::close);
    }

    private void register() {
        registrations.add(pair.initiatorLoops().register(initiatorPool));
        registrations.add(pair.targetLoops().register(targetPool));
    }

    private TestEnd initiator() throws Exception { return TestPair.begin(pair.connect()); }

    private TestEnd target() throws Exception { return TestPair.begin(pair.accepted()); }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static void respond(TestEnd target, int itt) {
        target.transport().send(TestPair.pdu(ScsiResponse.OPCODE, itt).bytes(), NONE,
                Release.NOTHING);
        target.transport().flush();
    }

    @Test
    void shouldCarryPdusInOrder() throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = target();
        for (int i = 0; i < 500; i++) {
            byte[] data = bytes(i % 3 == 0 ? 0 : random.nextInt(8193));
            initiator.transport().send(
                    TestPair.pdu(NopOut.OPCODE, i).lengths(0, data.length).bytes(),
                    MemorySegment.ofArray(data), release);
            initiator.transport().flush();
            if (i % 50 == 0) {
                TestEnd.Came came = target.next(NopOut.OPCODE);
                assertThat(came.bhs().itt()).isEqualTo(i);
                assertThat(came.data()).isEqualTo(data);
                for (int j = i + 1; j < i + 50; j++) {
                    initiator.transport().send(TestPair.pdu(NopOut.OPCODE, j).bytes(), NONE,
                            release);
                }
                initiator.transport().flush();
                for (int j = i + 1; j < i + 50; j++) {
                    assertThat(target.next(NopOut.OPCODE).bhs().itt()).isEqualTo(j);
                }
                i += 49;
            }
        }
        assertThat(released).hasValue(500);
        assertThat(initiator.transport().queuedBytes()).isZero();
    }

    @Test
    void shouldCarryAdditionalHeaderSegments() throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = target();
        byte[] header = new byte[Bhs.LENGTH + 260];
        random.nextBytes(header);
        MemorySegment segment = MemorySegment.ofArray(header);
        new Bhs().wrap(segment).start(NopOut.OPCODE, true, 0x80).lengths(260, 5);
        initiator.transport().send(segment, MemorySegment.ofArray(new byte[]{1, 2, 3, 4, 5}),
                release);
        initiator.transport().flush();
        TestEnd.Came came = target.next(NopOut.OPCODE);
        assertThat(came.ahs().mismatch(segment.asSlice(Bhs.LENGTH))).isEqualTo(-1);
        assertThat(came.data()).containsExactly(1, 2, 3, 4, 5);
    }

    @ParameterizedTest
    @EnumSource
    void shouldPlaceDataIn(Place at) throws Exception {
        register();
        TestEnd initiator = initiator();
        TestEnd target = target();
        for (Place from : Place.values()) {
            MemorySegment buffer = at.allocate(initiatorPool);
            buffer.fill((byte) 0x5a);
            int length = Math.min(at.bytes, from.bytes) - 10;
            byte[] data = bytes(length);
            initiator.transport().sendCommand(
                    TestPair.command(7, true, false, at.bytes, 0).bytes(), NONE, buffer, NONE,
                    release);
            initiator.transport().flush();
            TestEnd.Came command = target.next(ScsiCommand.OPCODE);
            assertThat(command.bhs().int32(ScsiCommand.EXPECTED_DATA_TRANSFER_LENGTH))
                    .isEqualTo(at.bytes);

            MemorySegment source = from.allocate(targetPool).asSlice(0, length);
            source.copyFrom(MemorySegment.ofArray(data));
            var sent = new AtomicInteger();
            int half = length / 2;
            target.transport().send(dataIn(7, 0, half).bytes(), source.asSlice(0, half),
                    sent::incrementAndGet);
            target.transport().send(dataIn(7, half, length - half).bytes(), source.asSlice(half),
                    sent::incrementAndGet);
            Bhs response = TestPair.pdu(ScsiResponse.OPCODE, 7)
                    .int8(1, 0x80 | ScsiResponse.UNDERFLOW)
                    .int32(ScsiResponse.RESIDUAL_COUNT, at.bytes - length);
            int before = released.get();
            initiator.before = () -> assertThat(released).as("released before the response")
                    .hasValue(before + 1);
            target.transport().send(response.bytes(), NONE, Release.NOTHING);
            target.transport().flush();
            TestEnd.Came came = initiator.next(ScsiResponse.OPCODE);
            assertThat(came.bhs().itt()).isEqualTo(7);
            assertThat(released).hasValue(before + 1);
            assertThat(buffer.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(data);
            assertThat(buffer.get(ValueLayout.JAVA_BYTE, length)).as("bytes that were not sent")
                    .isEqualTo((byte) 0x5a);
            await(() -> sent.get() == 2);
        }
    }

    private static Bhs dataIn(int itt, int offset, int length) {
        return TestPair.pdu(DataIn.OPCODE, itt).lengths(0, length)
                .int32(DataIn.BUFFER_OFFSET, offset);
    }

    @ParameterizedTest
    @EnumSource
    void shouldFetchDataOut(Place at) throws Exception {
        register();
        TestEnd initiator = initiator();
        TestEnd target = target();
        for (Place into : Place.values()) {
            for (int immediate : new int[]{0, 500}) {
                byte[] data = bytes(at.bytes);
                MemorySegment buffer = at.allocate(initiatorPool);
                buffer.copyFrom(MemorySegment.ofArray(data));
                initiator.transport().sendCommand(
                        TestPair.command(9, false, true, at.bytes, immediate).bytes(),
                        buffer.asSlice(0, immediate), NONE, buffer, release);
                initiator.transport().flush();
                byte[] first = target.next(ScsiCommand.OPCODE).data();
                assertThat(first).hasSize(immediate);

                int length = Math.min(at.bytes - immediate, into.bytes);
                MemorySegment room = into.allocate(targetPool).asSlice(0, length);
                var order = new ArrayList<String>();
                target.before = () -> order.add("delivered");
                target.transport().fetch(r2t(9, 44, immediate, length).bytes(), room,
                        () -> order.add("released"));
                target.transport().flush();
                TestEnd.Came came = target.next(DataOut.OPCODE);
                target.before = () -> {};
                assertThat(order).containsExactly("released", "delivered");
                assertThat(came.bhs().itt()).isEqualTo(9);
                assertThat(came.bhs().ttt()).isEqualTo(44);
                assertThat(came.bhs().isFinal()).isTrue();
                assertThat(came.bhs().int32(DataOut.BUFFER_OFFSET)).isEqualTo(immediate);
                assertThat(came.bhs().dataSegmentLength()).isEqualTo(length);
                assertThat(room.mismatch(
                        MemorySegment.ofArray(data).asSlice(immediate, length))).isEqualTo(-1);
                int before = released.get();
                respond(target, 9);
                var _ = initiator.next(ScsiResponse.OPCODE);
                assertThat(released).hasValue(before + 1);
            }
        }
    }

    private static Bhs r2t(int itt, int ttt, int offset, int length) {
        return TestPair.pdu(R2t.OPCODE, itt).int32(Pdu.TTT, ttt)
                .int32(R2t.BUFFER_OFFSET, offset)
                .int32(R2t.DESIRED_DATA_TRANSFER_LENGTH, length);
    }

    /** The response waits for the RDMA Reads of its command, since it frees the buffers (RFC 7145 section 7.3.6). */
    @Test
    void shouldSendAResponseAfterTheReadsOfItsCommand() throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = target();
        for (int i = 0; i < 50; i++) {
            MemorySegment buffer = Arena.ofAuto().allocate(200_000);
            initiator.transport().sendCommand(
                    TestPair.command(i, false, true, 200_000, 0).bytes(), NONE, NONE, buffer,
                    release);
            initiator.transport().flush();
            var _ = target.next(ScsiCommand.OPCODE);
            var fetched = new AtomicInteger();
            target.transport().fetch(r2t(i, 1, 0, 200_000).bytes(),
                    Arena.ofAuto().allocate(200_000), fetched::incrementAndGet);
            initiator.before = () -> assertThat(fetched).hasPositiveValue();
            respond(target, i);
            var _ = initiator.next(ScsiResponse.OPCODE);
            var _ = target.next(DataOut.OPCODE);
        }
        assertThat(initiator.isClosed()).isFalse();
    }

    /**
     * A Task Management Response or an Async Message waits for earlier RDMA Reads, and later ones wait for it: it may
     * report that tasks have ended, whose buffers the initiator then withdraws.
     */
    @ParameterizedTest
    @ValueSource(ints = {TaskManagementResponse.OPCODE, AsyncMessage.OPCODE})
    void shouldOrderReadsAndAPduThatEndsTasks(int opcode) throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = target();
        for (int itt = 1; itt <= 2; itt++) {
            initiator.transport().sendCommand(
                    TestPair.command(itt, false, true, 200_000, 0).bytes(), NONE, NONE,
                    Arena.ofAuto().allocate(200_000), release);
        }
        initiator.transport().flush();
        var _ = target.next(ScsiCommand.OPCODE);
        var _ = target.next(ScsiCommand.OPCODE);
        var fetched = new AtomicInteger();
        initiator.before = () -> assertThat(fetched).hasPositiveValue();
        target.transport().fetch(r2t(1, 1, 0, 200_000).bytes(),
                Arena.ofAuto().allocate(200_000), fetched::incrementAndGet);
        target.transport().send(TestPair.pdu(opcode, 3).bytes(), NONE, Release.NOTHING);
        target.transport().fetch(r2t(2, 2, 0, 200_000).bytes(),
                Arena.ofAuto().allocate(200_000), Release.NOTHING);
        target.transport().flush();
        assertThat(initiator.next(opcode).bhs().itt()).isEqualTo(3);
        assertThat(target.next(DataOut.OPCODE).bhs().itt()).isEqualTo(1);
        assertThat(target.next(DataOut.OPCODE).bhs().itt()).isEqualTo(2);
        assertThat(initiator.isClosed()).isFalse();
    }

    @Test
    void shouldTransferDataOfABidirectionalCommand() throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = target();
        byte[] data = bytes(100_000);
        MemorySegment in = MemorySegment.ofArray(new byte[100_000]);
        initiator.transport().sendCommand(TestPair.command(3, true, true, 100_000, 0).bytes(),
                NONE, in, MemorySegment.ofArray(data), release);
        initiator.transport().flush();
        var _ = target.next(ScsiCommand.OPCODE);
        MemorySegment room = Arena.ofAuto().allocate(100_000);
        target.transport().fetch(r2t(3, 1, 0, 100_000).bytes(), room, Release.NOTHING);
        target.transport().flush();
        var _ = target.next(DataOut.OPCODE);
        target.transport().send(dataIn(3, 0, 100_000).bytes(), room, Release.NOTHING);
        respond(target, 3);
        var _ = initiator.next(ScsiResponse.OPCODE);
        assertThat(in.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(data);
        assertThat(released).hasValue(1);
    }

    @Test
    void shouldSendUnsolicitedDataInPdus() throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = target();
        byte[] data = bytes(100_000);
        MemorySegment buffer = MemorySegment.ofArray(data);
        // Linux advertises the buffer behind all unsolicited data; this end sends only immediate data unsolicited.
        Bhs command = TestPair.command(3, false, true, 100_000, 8192);
        initiator.transport().sendCommand(command.bytes(), buffer.asSlice(0, 8192), NONE, buffer,
                release);
        for (int at = 8192; at < 24_576; at += 8192) {
            initiator.transport().send(TestPair.pdu(DataOut.OPCODE, 3).lengths(0, 8192)
                    .int32(Pdu.TTT, Bhs.NO_TAG).int32(DataOut.BUFFER_OFFSET, at).bytes(),
                    buffer.asSlice(at, 8192), release);
        }
        initiator.transport().flush();
        var _ = target.next(ScsiCommand.OPCODE);
        for (int at = 8192; at < 24_576; at += 8192) {
            TestEnd.Came came = target.next(DataOut.OPCODE);
            assertThat(came.bhs().int32(DataOut.BUFFER_OFFSET)).isEqualTo(at);
            assertThat(MemorySegment.ofArray(came.data())
                    .mismatch(buffer.asSlice(at, 8192))).isEqualTo(-1);
        }
        assertThat(released).as("the data of both PDUs").hasValue(2);
    }

    @Test
    void shouldHoldUnexpectedPdusAtTheLimitOfThePeer() throws Exception {
        TestEnd initiator = TestPair.begin(pair.connect(), TestPair.parameters(2, false));
        TestEnd target = target();
        for (int i = 1; i <= 4; i++) {
            initiator.transport().send(new Bhs().wrap(TestPair.pdu(
                    i == 2 ? TaskManagementRequest.OPCODE : NopOut.OPCODE, i).bytes())
                    .int8(0, 0x40 | (i == 2 ? TaskManagementRequest.OPCODE : NopOut.OPCODE))
                    .bytes(), NONE, release);
        }
        initiator.transport().flush();
        assertThat(target.next().bhs().itt()).isEqualTo(1);
        assertThat(target.next().bhs().itt()).isEqualTo(2);
        assertThat(initiator.transport().queuedBytes()).as("two wait")
                .isEqualTo(2L * Bhs.LENGTH);
        target.transport().send(TestPair.pdu(NopIn.OPCODE, 1).bytes(), NONE, Release.NOTHING);
        target.transport().flush();
        assertThat(target.next().bhs().itt()).isEqualTo(3);
        assertThat(target.hasNothing()).isTrue();
        target.transport().send(TestPair.pdu(NopIn.OPCODE, 3).bytes(), NONE, Release.NOTHING);
        target.transport().flush();
        assertThat(target.next().bhs().itt()).isEqualTo(4);
        assertThat(initiator.transport().queuedBytes()).isZero();
    }

    /** An initiator that has nothing to send acknowledges received PDUs only when it is pinged. */
    @Test
    void shouldPingForTheAcknowledgementOfUnexpectedPdus() throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = TestPair.begin(pair.accepted(), TestPair.parameters(2, false));
        for (int statSn = 1; statSn <= 3; statSn++) {
            target.transport().send(TestPair.pdu(Reject.OPCODE, Bhs.NO_TAG).int32(24, statSn)
                    .bytes(), NONE, release);
        }
        target.transport().flush();
        for (int statSn = 1; statSn <= 3; statSn++) {
            assertThat(initiator.next(Reject.OPCODE).bhs().int32(24)).isEqualTo(statSn);
            if (statSn < 3) {
                Bhs ping = initiator.next(NopIn.OPCODE).bhs();
                assertThat(ping.int32(24)).isEqualTo(statSn + 1);
                initiator.transport().send(new Bhs().wrap(TestPair.pdu(NopOut.OPCODE, Bhs.NO_TAG)
                        .int32(Pdu.TTT, ping.ttt())
                        .int32(InitiatorPdu.EXP_STAT_SN, statSn + 1).bytes())
                        .int8(0, 0x40 | NopOut.OPCODE).bytes(), NONE, release);
                initiator.transport().flush();
            }
        }
        assertThat(target.transport().queuedBytes()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndTheConnectionIfAPduIsTooLongToSend(boolean isCommand) throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = target();
        MemorySegment data = MemorySegment.ofArray(new byte[9000]);
        if (isCommand) {
            initiator.transport().sendCommand(
                    TestPair.command(1, false, true, 9000, 9000).bytes(), data, NONE, data,
                    release);
        } else {
            target.transport().send(TestPair.pdu(NopIn.OPCODE, 1).lengths(0, 9000).bytes(), data,
                    release);
        }
        assertThat((isCommand ? initiator : target).end()).hasValueSatisfying(
                why -> assertThat(why).hasMessageContaining("cannot send a PDU of"));
        var _ = initiator.end();
        var _ = target.end();
        assertThat(released).hasValue(1);
        assertThat(pair.initiatorLoops().messageBuffersInUse()).isZero();
        assertThat(pair.targetLoops().messageBuffersInUse()).isZero();
    }

    /** For a buffer that is registered for one command, the target's access ends with the command. */
    @Test
    void shouldEndTheConnectionOnAccessToWithdrawnMemory() throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = target();
        MemorySegment buffer = Arena.ofAuto().allocate(200_000);
        initiator.transport().sendCommand(TestPair.command(5, false, true, 200_000, 0).bytes(),
                NONE, NONE, buffer, release);
        initiator.transport().flush();
        var _ = target.next(ScsiCommand.OPCODE);
        initiator.transport().withdraw(5);
        await(() -> released.get() == 1);

        var given = new AtomicInteger();
        target.transport().fetch(r2t(5, 1, 0, 200_000).bytes(), Arena.ofAuto().allocate(200_000),
                given::incrementAndGet);
        target.transport().flush();
        assertThat(target.end()).isPresent();
        assertThat(given).hasValue(1);
        assertThat(target.hasNothing()).as("no data are delivered that did not arrive").isTrue();
        var _ = initiator.end();
        assertThat(released).hasValue(1);
    }

    @Test
    void shouldReleaseAllBuffersWhenTheConnectionIsAborted() throws Exception {
        register();
        TestEnd initiator = initiator();
        TestEnd target = target();
        for (int i = 0; i < 10; i++) {
            MemorySegment buffer = Place.values()[i % 5].allocate(initiatorPool);
            initiator.transport().sendCommand(
                    TestPair.command(i, i < 5, i >= 5, (int) buffer.byteSize(), 0).bytes(), NONE,
                    i < 5 ? buffer : NONE, i < 5 ? NONE : buffer, release);
        }
        initiator.transport().flush();
        for (int i = 0; i < 10; i++) {
            var _ = target.next(ScsiCommand.OPCODE);
        }
        var given = new AtomicInteger();
        target.transport().fetch(r2t(8, 1, 0, 100_000).bytes(), targetPool.asSlice(0, 100_000),
                given::incrementAndGet);
        target.transport().flush();
        initiator.transport().abort();
        assertThat(initiator.end()).hasValueSatisfying(
                why -> assertThat(why).hasMessageContaining("aborted"));
        assertThat(released).hasValue(10);
        var _ = target.end();
        assertThat(given).hasValue(1);

        initiator.transport().send(TestPair.pdu(NopOut.OPCODE, 1).bytes(), NONE, release);
        initiator.transport().sendCommand(TestPair.command(1, true, false, 512, 0).bytes(), NONE,
                MemorySegment.ofArray(new byte[512]), NONE, release);
        initiator.transport().flush();
        await(() -> released.get() == 12);
    }

    @Test
    void shouldDeliverPdusThatWereSentBeforeTheClose() throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = target();
        initiator.transport().send(TestPair.pdu(NopOut.OPCODE, 1).bytes(), NONE, release);
        initiator.transport().send(TestPair.pdu(LogoutRequest.OPCODE, 2).bytes(), NONE, release);
        initiator.transport().close();
        initiator.transport().send(TestPair.pdu(NopOut.OPCODE, 3).bytes(), NONE, release);
        assertThat(initiator.end()).isEmpty();
        assertThat(target.next().bhs().itt()).isEqualTo(1);
        assertThat(target.next().bhs().itt()).isEqualTo(2);
        assertThat(target.end()).isEmpty();
        assertThat(target.hasNothing()).isTrue();
    }

    @Test
    void shouldDeliverNothingWhileReadingIsOff() throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = target();
        boolean _ = target.inLoop(transport -> {
            transport.reading(false);
            return true;
        });
        for (int i = 0; i < 3; i++) {
            initiator.transport().send(TestPair.pdu(NopOut.OPCODE, i).bytes(), NONE, release);
        }
        initiator.transport().close();
        assertThat(initiator.end()).isEmpty();
        assertThat(target.hasNothing()).isTrue();
        assertThat(target.isClosed()).isFalse();
        boolean _ = target.inLoop(transport -> {
            transport.reading(true);
            return true;
        });
        for (int i = 0; i < 3; i++) {
            assertThat(target.next().bhs().itt()).isEqualTo(i);
        }
        assertThat(target.end()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldReportTheEndEvenWhileReadingIsOff(boolean aborts) throws Exception {
        TestEnd initiator = initiator();
        TestEnd target = target();
        boolean _ = target.inLoop(transport -> {
            transport.reading(false);
            return true;
        });
        initiator.transport().close();
        assertThat(initiator.end()).isEmpty();
        await(() -> pair.targetLoops().messageBuffersInUse() == 0); // its endpoint is closed
        assertThat(target.isClosed()).isFalse();
        if (aborts) {
            target.transport().abort();
        } else {
            target.transport().close();
        }
        var _ = target.end();
    }

    @Test
    void shouldReportARefusedConnection() {
        var nowhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        assertThatThrownBy(() -> pair.initiatorLoops().connect(nowhere, 10_000, _ -> {
            throw new AssertionError("connected");
        })).isInstanceOf(ConnectException.class);
    }

    @Test
    void shouldEndTheConnectionIfThereIsNoReceiver() throws Exception {
        assertThatThrownBy(() -> pair.initiatorLoops().connect(pair.portal(), 60_000, _ -> {
            throw new IllegalStateException("no receiver");
        })).isInstanceOf(IOException.class).hasMessageContaining("no receiver");
        var _ = pair.accepted().end();
    }

    static void await(BooleanSupplier condition) throws Exception {
        var timer = new CompletableFuture<Void>().orTimeout(60, TimeUnit.SECONDS);
        while (!condition.getAsBoolean()) {
            assertThat(timer).isNotCompletedExceptionally();
            Thread.onSpinWait();
        }
    }
}
