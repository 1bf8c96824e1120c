package lunar.osd.target;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntConsumer;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.scsi.Cdb;
import lunar.scsi.target.InitiatorPort;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.LogicalUnits;
import lunar.scsi.target.LunMap;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.ScsiTarget;
import lunar.scsi.target.TargetPort;
import lunar.scsi.target.UnitContext;

/** A device over a store in memory, whose commands run in the test's thread. */
final class OsdFixture implements AutoCloseable {
    static final int MAX_TRANSFER = 1 << 20;
    static final long PARTITION = 0x1_0000;
    static final ObjectId OBJECT = new ObjectId(PARTITION, 0x1_0000);

    private static final String TARGET = "iqn.2026-11.org.lunar:osd";

    final ObjectStore store;
    private final LogicalUnit unit;
    private Nexus nexus;

    OsdFixture() throws Exception { this(ObjectStores.inMemory()); }

    OsdFixture(ObjectStore store) throws Exception { this(store, MAX_TRANSFER); }

    OsdFixture(ObjectStore store, int maxTransfer) throws Exception {
        this(OsdSpec.of(store), maxTransfer);
    }

    OsdFixture(OsdSpec spec, int maxTransfer) throws Exception {
        store = spec.store();
        unit = LogicalUnits.open(spec, TARGET, new UnitContext(maxTransfer, 1000));
        logIn();
    }

    /** Goes on with a nexus of its own. */
    void logIn() {
        var port = new TargetPort(TARGET, 1, 1);
        nexus = new Nexus(new InitiatorPort("iqn.2026-11.org.lunar:i", 1), "i",
                new ScsiTarget(TARGET, List.of(port)), port, new NoTasks(), false);
        show(false);
    }

    /** Sets whether the initiator may only read. */
    void show(boolean readOnly) {
        nexus.show(new LunMap(new TreeMap<>(Map.of(0, new LunMap.Entry(unit, readOnly)))));
    }

    /** Creates a partition and an object in it. */
    OsdFixture withObject() {
        run(new CreatePartitionCommand(v2(), PARTITION, 0)).isGood();
        run(new CreateCommand(v2(), OBJECT, 0, 0)).isGood();
        return this;
    }

    static CommonFields v2() { return CommonFields.of(OsdVersion.OSD_2); }

    static CommonFields v1() { return CommonFields.of(OsdVersion.OSD_1); }

    ScriptedTask task(byte[] cdb, byte[] out, int expectedIn) {
        return new ScriptedTask(nexus, unit.server(), cdb, out, expectedIn, MAX_TRANSFER);
    }

    Reply run(byte[] cdb, byte[] out, int expectedIn) { return task(cdb, out, expectedIn).run(); }

    ScriptedTask task(Cdb cdb, byte[] out, int expectedIn) {
        byte[] bytes = new byte[cdb.length()];
        cdb.encode(MemorySegment.ofArray(bytes));
        return task(bytes, out, expectedIn);
    }

    Reply run(Cdb cdb, byte[] out, int expectedIn) { return task(cdb, out, expectedIn).run(); }

    Reply run(Cdb cdb) { return run(cdb, new byte[0], MAX_TRANSFER); }

    Reply write(ObjectId object, long offset, byte[] data) {
        return run(new ByteRangeCommand(ServiceAction.WRITE, v2(), object, data.length, offset,
                0), data, 0);
    }

    Reply read(ObjectId object, long offset, int length) {
        return run(new ByteRangeCommand(ServiceAction.READ, v2(), object, length, offset, 0));
    }

    /** Ends the device, not its store. */
    void end() { unit.end().join(); }

    @Override
    public void close() throws Exception {
        unit.end().join();
        store.close();
    }

    private static final class NoTasks implements Nexus.Aborter {
        @Override
        public CompletableFuture<Integer> abort(LogicalUnit of, IntConsumer marked) {
            return CompletableFuture.completedFuture(0);
        }

        @Override
        public CompletableFuture<Integer> withdraw(LogicalUnit of) {
            return CompletableFuture.completedFuture(0);
        }
    }
}
