package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.scsi.Status;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

/** Tests reuse of task objects: state of one command must never affect the next. */
class TaskReuseTest {
    private static final int BLOCKS = 512;
    private static final int ROUNDS = 300;
    private static final int DEPTH = 24;

    /** Memory that ends requests on threads of its own, in any order, or at once on the caller's. */
    private static final class ScatteredDevice extends ForwardingDevice {
        private final ExecutorService threads = Executors.newFixedThreadPool(4);
        private final Random random;

        ScatteredDevice(long seed) throws StorageException {
            super(Devices.open("ram:1MiB"));
            random = new Random(seed);
        }

        @Override
        public void submit(BlockRequest request) {
            if (random.nextBoolean()) { // the loop is its only user
                below().submit(request);
            } else {
                threads.execute(() -> below().submit(request));
            }
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }

        @Override
        public void close() throws StorageException {
            threads.close();
            super.close();
        }
    }

    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    /** Values of the blocks, each of which is full of one. */
    private final byte[] model = new byte[BLOCKS];
    private final Map<Integer, byte[]> expected = new HashMap<>();

    @Test
    void shouldAnswerPipelinedCommandsLikeSingleOnes() throws Exception {
        try (var device = new ScatteredDevice(seed);
                var server = TargetFixture.builder().portal("127.0.0.1", 0).loops(1)
                        .target(TargetSpec.of(RawInitiator.TARGET).withLun(0, device)).start();
                var initiator = RawInitiator.ready(server, 1)) {
            for (int round = 0; round < ROUNDS; round++) {
                boolean aborts = round % 4 == 3;
                for (int i = 0; i < DEPTH; i++) {
                    send(initiator, i * (BLOCKS / DEPTH));
                }
                int aborted = aborts ? abortOne(initiator) : 0;
                while (!expected.isEmpty()) {
                    receive(initiator, aborted);
                }
            }
            assertThat(server.bufferBytesInUse()).isZero();
            assertOnDevice(device);
        }
    }

    /** A read, a write, or something else, in a stretch of blocks that no other command of the round touches. */
    private void send(RawInitiator initiator, int lba) throws Exception {
        int count = 1 + random.nextInt(BLOCKS / DEPTH - 1);
        switch (random.nextInt(5)) {
            case 0 -> expected.put(initiator.send(new byte[6], 0), new byte[0]); // TEST UNIT READY
            case 1 -> { // beyond the end: it fails
                int itt = initiator.send(RawInitiator.readCdb(1 << 20, count), count * 512);
                expected.put(itt, new byte[1]);
            }
            case 2 -> {
                byte value = (byte) random.nextInt();
                byte[] data = TargetFixture.blocks(count, value);
                expected.put(initiator.write(lba, data), new byte[0]);
                Arrays.fill(model, lba, lba + count, value);
            }
            default -> {
                byte[] data = new byte[count * 512];
                for (int i = 0; i < data.length; i++) {
                    data[i] = model[lba + i / 512];
                }
                expected.put(initiator.send(RawInitiator.readCdb(lba, count), data.length), data);
            }
        }
    }

    /** Aborts a read that may be at work or over, as it happens. */
    private int abortOne(RawInitiator initiator) throws Exception {
        int itt = initiator.send(RawInitiator.readCdb(0, 1), 512);
        expected.put(initiator.manage(TaskManagementFunction.ABORT_TASK, itt), new byte[0]);
        return itt;
    }

    private void receive(RawInitiator initiator, int aborted) throws Exception {
        RawInitiator.Received answer = initiator.receive();
        int itt = answer.bhs().itt();
        if (itt == aborted) {
            return; // it was faster than its abort
        }
        byte[] wanted = expected.get(itt);
        assertThat(wanted).as("an answer to %d, seed %d", itt, seed).isNotNull();
        switch (answer.opcode()) {
            case DataIn.OPCODE -> {
                int at = answer.bhs().int32(DataIn.BUFFER_OFFSET);
                assertThat(MemorySegment.ofArray(wanted).asSlice(at, answer.data().length)
                        .mismatch(MemorySegment.ofArray(answer.data())))
                        .as("data of %d, seed %d", itt, seed).isEqualTo(-1);
                if ((answer.bhs().flags() & DataIn.HAS_STATUS) == 0) {
                    return;
                }
                assertThat(at + answer.data().length).isEqualTo(wanted.length);
            }
            case ScsiResponse.OPCODE -> assertThat(answer.status()).as("seed %d", seed)
                    .isEqualTo(wanted.length == 1 ? Status.CHECK_CONDITION : Status.GOOD);
            default -> assertThat(answer.opcode()).isEqualTo(TaskManagementResponse.OPCODE);
        }
        expected.remove(itt);
    }

    private void assertOnDevice(ScatteredDevice device) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(BLOCKS * 512L);
            device.read(0, all);
            for (int i = 0; i < BLOCKS; i++) {
                assertThat(all.get(ValueLayout.JAVA_BYTE, i * 512L)).as("block %d, seed %d", i,
                        seed).isEqualTo(model[i]);
            }
        }
    }
}
