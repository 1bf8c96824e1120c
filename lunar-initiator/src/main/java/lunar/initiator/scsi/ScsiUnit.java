package lunar.initiator.scsi;

import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.block.InvalidRequestException;
import lunar.block.NotSupportedException;
import lunar.block.StorageException;
import lunar.initiator.LunDevice;
import lunar.initiator.ScsiResult;
import lunar.initiator.Session;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.block.ReadCapacity16;
import lunar.scsi.primary.LunList;
import lunar.scsi.primary.ReportLuns;
import lunar.scsi.primary.RequestSense;
import lunar.scsi.primary.TestUnitReady;

/**
 * SCSI commands of a logical unit, as blocking calls. Groups of commands have their own objects, such as
 * {@link #reservations()}; any other command can be sent by {@link #send} or {@link #execute}. Needs no closing.
 * Thread-safe, but must not be used on the thread of an event loop.
 *
 * <p>Every call except {@link #execute} retries a command after a unit attention a few times
 * ({@link LunDevice#onAttention} reports these), and waits for a unit that is BUSY or has a full task set, up to the
 * command timeout. Every call throws
 * <ul>
 * <li>{@link StorageException}, of the type that corresponds to the failure, when the command fails; its cause is a
 * {@link lunar.initiator.SenseException} with the sense data and their field pointer, where there are sense data;
 * <li>{@link lunar.block.MediumException} when the unit's answer is invalid: wrong lengths, truncated
 * data;
 * <li>{@link NotSupportedException} when the unit does not support the command;
 * <li>{@link IllegalArgumentException} when a number does not fit into the command, before anything is sent.
 * </ul>
 */
public final class ScsiUnit {
    private static final int CAPACITY_BYTES = 32;
    private static final int SENSE_BYTES = 252;
    private static final int FIRST_LIST_BYTES = 4096;
    private static final int MAX_LIST_BYTES = 8 + 8 * 16_384;
    private static final int MIN_BLOCK_SIZE = 1;
    private static final int MAX_BLOCK_SIZE = 16 << 20;

    private final Session session;
    private final Lun lun;
    private final Calls.Way way;
    private final Calls calls;
    private final Blocks blocks;
    private volatile int blockSize;

    private ScsiUnit(Session session, Lun lun, int blockSize, Calls.Way way) {
        this.session = session;
        this.lun = lun;
        this.blockSize = blockSize;
        this.way = way;
        calls = new Calls(way, session.targetName() + "/" + lun,
                session.options().timeouts().commandMs());
        blocks = new Blocks(this);
    }

    /** Returns the unit of an open disk; its calls fail once that is closed. */
    public static ScsiUnit of(LunDevice device) {
        return new ScsiUnit(device.session(), device.lun(), device.blockSize(), device::execute);
    }

    /** Returns a unit of any type, which need not exist: nothing is sent. */
    public static ScsiUnit of(Session session, Lun lun) {
        return new ScsiUnit(session, lun, 0,
                (cdb, in, out) -> session.execute(lun, cdb, in, out));
    }

    /** Returns the units of a target that this session may use, of any type, in the order of REPORT LUNS. */
    public static List<ScsiUnit> scan(Session session) throws StorageException {
        return session.luns().stream().map(lun -> of(session, lun)).toList();
    }

    /** Returns the session through which the unit is reached. */
    public Session session() {
        return session;
    }

    /** Returns the unit's LUN. */
    public Lun lun() { return lun; }

    // --- families ---

    /** INQUIRY and vital product data. */
    public Inquiries inquiry() {
        return new Inquiries(calls);
    }

    /** MODE SENSE and MODE SELECT. */
    public Modes modes() { return new Modes(calls); }

    /** LOG SENSE and LOG SELECT. */
    public Logs logs() { return new Logs(calls); }

    /** PERSISTENT RESERVE IN and OUT. */
    public Reservations reservations() {
        return new Reservations(calls);
    }

    /** Block commands other than plain reads and writes. */
    public Blocks blocks() {
        return blocks;
    }

    /** SANITIZE and FORMAT UNIT. */
    public Erasures erasures() { return new Erasures(calls); }

    /** Copies within a target: EXTENDED COPY and ROD tokens. */
    public Copies copies() {
        return new Copies(this);
    }

    /** Asymmetric access (ALUA). */
    public PortGroups portGroups() { return new PortGroups(calls); }

    /** Supported commands and task management functions. */
    public Commands commands() {
        return new Commands(calls);
    }

    /** Self-tests, clock, labels, start and stop. */
    public Maintenance maintenance() {
        return new Maintenance(calls);
    }

    // --- common to all units ---

    /** Returns the unit's names, which identify it over every path (VPD pages 80h and 83h). */
    public UnitIdentity identity() throws StorageException {
        return UnitIdentity.read(inquiry());
    }

    /** TEST UNIT READY (SPC-5 section 6.47): throws where the unit is not ready. */
    public void requireReady() throws StorageException {
        calls.sendNow(new TestUnitReady());
    }

    /** READ CAPACITY(16) (SBC-4 section 5.20). */
    public CapacityData16 capacity() throws StorageException {
        return calls.ask(new ReadCapacity16(CAPACITY_BYTES), CAPACITY_BYTES,
                CapacityData16::decode);
    }

    /** Returns the block size in bytes; read once. */
    public int blockSize() throws StorageException {
        int known = blockSize;
        if (known == 0) {
            long told = capacity().blockSize();
            if (told < MIN_BLOCK_SIZE || told > MAX_BLOCK_SIZE) {
                throw new NotSupportedException(
                        calls.name() + " reports a block size of " + told + " bytes", null);
            }
            known = (int) told;
            blockSize = known;
        }
        return known;
    }

    /**
     * REPORT LUNS (SPC-5), sent to this unit.
     *
     * @param select SELECT REPORT: 0 the ordinary, 1 the well-known, 2 all logical units
     */
    public List<Lun> luns(int select) throws StorageException {
        return calls.ask(bytes -> new ReportLuns(select, bytes), FIRST_LIST_BYTES, MAX_LIST_BYTES,
                LunList::fullLength, LunList::decode).luns();
    }

    /** REQUEST SENSE (SPC-5 section 6.39): the sense data of the unit; {@link Sense#NONE} for none. */
    public Sense requestSense() throws StorageException {
        return calls.ask(new RequestSense(false, SENSE_BYTES), SENSE_BYTES, Sense::decode);
    }

    /**
     * Sends a command that has no call of its own.
     *
     * @param dataIn buffer for data from the unit; {@link MemorySegment#NULL} for none
     * @param dataOut data for the unit; {@link MemorySegment#NULL} for none
     * @return the result, a success
     */
    public ScsiResult send(Cdb cdb, MemorySegment dataIn, MemorySegment dataOut)
            throws StorageException {
        return calls.send(cdb, dataIn, dataOut);
    }

    /**
     * Passes the bytes of a command through, without retries. Returns any SCSI status, which the caller must check:
     * {@link ScsiResult#sense()} has the sense data, {@link ScsiResult#orThrow} converts it to an exception.
     *
     * @param cdb 6 to 260 bytes
     * @throws StorageException if the command did not complete: timeout, session gone
     * @throws InvalidRequestException if the CDB has another length
     */
    public ScsiResult execute(byte[] cdb, MemorySegment dataIn, MemorySegment dataOut)
            throws StorageException {
        return way.send(cdb, dataIn, dataOut);
    }

    Calls calls() { return calls; }

    @Override
    public String toString() { return calls.name(); }
}
