package lunar.scsi.target;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.primary.ReadBuffer;
import lunar.scsi.primary.WriteBuffer;

/**
 * Executes READ BUFFER and WRITE BUFFER (SPC-5 sections 6.18 and 6.49) on a data buffer that all nexuses share and an
 * echo buffer per nexus. Downloading microcode is not supported.
 */
public final class BufferCommands {
    private static final int BUFFER_BYTES = 64 << 10;
    /** Echo buffer size; the BUFFER CAPACITY field of an echo buffer has 13 bits. */
    private static final int ECHO_BYTES = 4096;
    /** EBOS: an echo buffer is not overwritten by other nexuses. */
    private static final byte EBOS = 1;

    private final byte[] buffer = new byte[BUFFER_BYTES];
    /** Discarded together with the nexus. */
    private final Map<Nexus, byte[]> echoes = Collections.synchronizedMap(new WeakHashMap<>());

    /** Creates the commands of one unit, with empty buffers. */
    public BufferCommands() {}

    /** Adds the commands. */
    public void register(CommandSet commands) {
        commands.add(CommandHandler.of(ReadBuffer.class, Access.INFORM, this::read)
                .passing((read, _) -> read.mode() == ReadBuffer.ECHO
                        || read.mode() == ReadBuffer.ECHO_DESCRIPTOR))
                .add(CommandHandler.of(WriteBuffer.class, Access.CONTROL, this::write)
                        .withDataOut(write -> Math.min(write.parameterListLength(), BUFFER_BYTES))
                        .passing((write, _) -> write.mode() == WriteBuffer.ECHO));
    }

    private void read(ScsiTask task, ReadBuffer command) {
        if (command.modeSpecific() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 7));
            return;
        }
        switch (command.mode()) {
            case ReadBuffer.DATA -> {
                if (command.buffer() != 0) {
                    task.checkCondition(Sense.invalidFieldInCdb(2, 7));
                } else if (command.offset() > BUFFER_BYTES) {
                    task.checkCondition(Sense.invalidFieldInCdb(3, 7));
                } else {
                    task.good(piece(command.offset()), command.allocationLength());
                }
            }
            case ReadBuffer.DESCRIPTOR -> task.good(descriptor(command.buffer()),
                    command.allocationLength());
            case ReadBuffer.ECHO -> {
                byte[] echo = echoes.get(task.nexus());
                if (echo == null) {
                    task.checkCondition(Sense.of(SenseKey.ILLEGAL_REQUEST,
                            AdditionalSense.COMMAND_SEQUENCE_ERROR));
                } else {
                    task.good(echo, command.allocationLength());
                }
            }
            case ReadBuffer.ECHO_DESCRIPTOR -> task.good(
                    new byte[]{EBOS, 0, (byte) (ECHO_BYTES >> 8), (byte) ECHO_BYTES},
                    command.allocationLength());
            default -> task.checkCondition(Sense.invalidFieldInCdb(1, 4));
        }
    }

    private synchronized byte[] piece(int offset) {
        return Arrays.copyOfRange(buffer, offset, BUFFER_BYTES);
    }

    /** OFFSET BOUNDARY 0 permits any byte offset; a buffer that does not exist has capacity 0. */
    private static byte[] descriptor(int id) {
        int capacity = id == 0 ? BUFFER_BYTES : 0;
        return new byte[]{0, (byte) (capacity >> 16), (byte) (capacity >> 8), (byte) capacity};
    }

    private void write(ScsiTask task, WriteBuffer command) {
        if (command.modeSpecific() != 0) {
            task.checkCondition(Sense.invalidFieldInCdb(1, 7));
            return;
        }
        MemorySegment data = task.dataOut();
        switch (command.mode()) {
            case WriteBuffer.DATA -> {
                if (command.buffer() != 0) {
                    task.checkCondition(Sense.invalidFieldInCdb(2, 7));
                } else if (command.offset() > BUFFER_BYTES) {
                    task.checkCondition(Sense.invalidFieldInCdb(3, 7));
                } else if (command.parameterListLength() > BUFFER_BYTES - command.offset()) {
                    task.checkCondition(Sense.invalidFieldInCdb(6, 7));
                } else {
                    fill(command.offset(), data);
                    task.good();
                }
            }
            case WriteBuffer.ECHO -> {
                if (command.parameterListLength() > ECHO_BYTES) {
                    task.checkCondition(Sense.invalidFieldInCdb(6, 7));
                } else {
                    byte[] echo = new byte[(int) data.byteSize()];
                    MemorySegment.ofArray(echo).copyFrom(data);
                    echoes.put(task.nexus(), echo);
                    task.good();
                }
            }
            default -> task.checkCondition(Sense.invalidFieldInCdb(1, 4));
        }
    }

    private synchronized void fill(int offset, MemorySegment data) {
        MemorySegment.copy(data, 0, MemorySegment.ofArray(buffer), offset, data.byteSize());
    }
}
