package lunar.bench.micro;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.Crc32c;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.TargetPdu;
import lunar.scsi.Lun;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Measures headers as records and as flyweights, and the digest of a data segment. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class CodecBench {
    private static final int FINAL = 0x80;

    private final Arena arena = Arena.ofAuto();
    private final Bhs command = new Bhs().wrap(arena.allocate(Bhs.LENGTH, 8));
    private final Bhs dataIn = new Bhs().wrap(arena.allocate(Bhs.LENGTH, 8));
    private final MemorySegment cdb = arena.allocate(ScsiCommand.CDB_LENGTH);
    private final MemorySegment small = arena.allocate(4096, 4096);
    private final MemorySegment large = arena.allocate(256 << 10, 4096);
    private int number;

    /** Both headers hold something valid from the start. */
    public CodecBench() {
        scsiCommandEncodeRecord();
        dataInEncodeRecord();
    }

    @Benchmark
    public final Bhs scsiCommandEncodeRecord() {
        number++;
        new ScsiCommand(false, true, true, false, lunar.iscsi.pdu.TaskAttribute.SIMPLE, 0, Lun.ZERO,
                number, 4096, number, number, cdb, 0).encode(command);
        return command;
    }

    @Benchmark
    public ScsiCommand scsiCommandDecodeRecord() throws ProtocolException {
        return ScsiCommand.decode(command, MemorySegment.NULL);
    }

    /** The fields that a target wants, read where they lie. */
    @Benchmark
    public long scsiCommandDecodeFlyweight() {
        return command.flags() + command.lun() + command.itt()
                + command.int32(ScsiCommand.EXPECTED_DATA_TRANSFER_LENGTH)
                + command.int32(lunar.iscsi.pdu.InitiatorPdu.CMD_SN)
                + command.int64(ScsiCommand.CDB) + command.int64(ScsiCommand.CDB + Long.BYTES);
    }

    @Benchmark
    public final Bhs dataInEncodeRecord() {
        number++;
        new DataIn(true, false, true, 0, Residual.NONE, Lun.ZERO, number, Bhs.NO_TAG, number,
                number, number, 0, 0).encode(dataIn);
        return dataIn;
    }

    /** Encodes as the target does. */
    @Benchmark
    public Bhs dataInEncodeFlyweight() {
        number++;
        dataIn.start(DataIn.OPCODE, false, FINAL | DataIn.HAS_STATUS).lengths(0, 4096)
                .int32(Pdu.ITT, number).int32(Pdu.TTT, Bhs.NO_TAG)
                .int32(TargetPdu.STAT_SN, number).int32(TargetPdu.EXP_CMD_SN, number)
                .int32(TargetPdu.MAX_CMD_SN, number).int32(DataIn.DATA_SN, 0)
                .int32(DataIn.BUFFER_OFFSET, 0);
        return dataIn;
    }

    @Benchmark
    public DataIn dataInDecodeRecord() throws ProtocolException { return DataIn.decode(dataIn); }

    @Benchmark
    public long dataInDecodeFlyweight() {
        return (long) dataIn.flags() + dataIn.itt() + dataIn.int32(TargetPdu.STAT_SN)
                + dataIn.int32(TargetPdu.EXP_CMD_SN) + dataIn.int32(TargetPdu.MAX_CMD_SN)
                + dataIn.int32(DataIn.DATA_SN) + dataIn.int32(DataIn.BUFFER_OFFSET);
    }

    @Benchmark
    public int digest4KiB() { return Crc32c.of(small); }

    @Benchmark
    public int digest256KiB() { return Crc32c.of(large); }
}
