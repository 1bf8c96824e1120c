package lunar.iser;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.login.TaskReporting;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.spi.LoopOptions;
import lunar.iscsi.spi.TransportProvider;
import lunar.rdma.ProviderStatus;
import lunar.rdma.Rdma;
import lunar.rdma.RdmaDevice;
import org.junit.jupiter.api.Assumptions;

/** Both ends of connections over libfabric's tcp, as if logged in. Closing it checks that no memory is registered. */
final class TestPair implements AutoCloseable {
    static final int COMMANDS = 16;

    private final IserLoops targetLoops;
    private final IserLoops initiatorLoops;
    private final TransportProvider.Listener listener;
    private final BlockingQueue<TestEnd> accepted = new LinkedBlockingQueue<>();

    private TestPair(RdmaDevice initiators, RdmaDevice targets, int loops, boolean needsHello)
            throws Exception {
        targetLoops = new IserLoops("test-target", LoopOptions.of(loops), choice(targets), false);
        initiatorLoops = new IserLoops("test-initiator", LoopOptions.of(loops), choice(initiators),
                needsHello);
        listener = targetLoops.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), transport -> {
                    var end = new TestEnd(transport);
                    accepted.add(end);
                    return end;
                });
    }

    private static DeviceChoice choice(RdmaDevice device) {
        return new DeviceChoice(Optional.of(device.info().name()), List.of(device));
    }

    static TestPair of(RdmaDevice initiators, RdmaDevice targets) throws Exception {
        return new TestPair(initiators, targets, 1, false);
    }

    static TestPair create() throws Exception { return of(device(), device()); }

    static TestPair withLoops(int count) throws Exception {
        return new TestPair(device(), device(), count, false);
    }

    static TestPair withHello() throws Exception {
        return new TestPair(device(), device(), 1, true);
    }

    /** Returns libfabric's tcp device, which needs no adapter; skips the test, with the reason, if it is missing. */
    static RdmaDevice device() {
        return Rdma.devices().stream()
                .filter(device -> device.info().name().equals("libfabric:tcp")).findFirst()
                .orElseThrow(() -> {
                    String why = "no libfabric:tcp: " + Rdma.providers().stream()
                            .map(ProviderStatus::toString).toList();
                    System.out.println("skipped: " + why);
                    return Assumptions.<RuntimeException>abort(why);
                });
    }

    InetSocketAddress portal() { return listener.local(); }

    IserLoops targetLoops() { return targetLoops; }

    IserLoops initiatorLoops() { return initiatorLoops; }

    TestEnd connect() throws Exception {
        var end = new TestEnd[1];
        initiatorLoops.connect(portal(), 60_000, transport -> {
            end[0] = new TestEnd(transport);
            return end[0];
        });
        return end[0];
    }

    TestEnd accepted() throws Exception { return accepted.poll(60, TimeUnit.SECONDS); }

    /** Returns the parameters of a login, for both ends. */
    static OperationalParameters parameters(long unexpected, boolean needsHello) {
        return parameters(unexpected, 260, needsHello);
    }

    /** Returns the parameters of a login, with the most bytes of additional header segments that the peer accepts. */
    static OperationalParameters parameters(long unexpected, long maxAhsBytes,
            boolean needsHello) {
        return new OperationalParameters(false, false, 1, true, true, 8192, 8192, 1 << 20, 65536,
                0, 20, 4, true, true, 0, TaskReporting.RFC3720, 1, Optional.of(
                        new OperationalParameters.Iser(8192, 8192, unexpected, maxAhsBytes,
                                true, needsHello)));
    }

    /** Applies parameters to an end, as after a login. */
    static TestEnd begin(TestEnd end, OperationalParameters parameters) throws Exception {
        boolean _ = end.inLoop(transport -> {
            transport.agreed(parameters, COMMANDS);
            transport.framing(new Framing(false, false, 8192, 260));
            return true;
        });
        return end;
    }

    static TestEnd begin(TestEnd end) throws Exception { return begin(end, parameters(0, false)); }

    // --- PDUs ---

    /** Returns a header that the test can modify. */
    static Bhs pdu(int opcode, int itt) {
        return new Bhs().wrap(MemorySegment.ofArray(new byte[Bhs.LENGTH]))
                .start(opcode, false, 0x80).int32(Pdu.ITT, itt);
    }

    static Bhs command(int itt, boolean reads, boolean writes, int expectedBytes,
            int immediateBytes) {
        return pdu(ScsiCommand.OPCODE, itt).int8(1, 0x80 | (reads ? ScsiCommand.READ : 0)
                | (writes ? ScsiCommand.WRITE : 0)).lengths(0, immediateBytes)
                .int32(ScsiCommand.EXPECTED_DATA_TRANSFER_LENGTH, expectedBytes);
    }

    @Override
    public void close() {
        listener.close();
        initiatorLoops.close();
        targetLoops.close();
    }
}
