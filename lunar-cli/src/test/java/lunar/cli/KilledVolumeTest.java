package lunar.cli;

import lunar.cli.config.VolumeUris;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.Devices;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a {@code lunar serve raid5:vol} process that is killed at any moment, or terminated. */
class KilledVolumeTest {
    private static final int BLOCK = 512;
    private static final int PIECE = 96 << 10;

    @TempDir
    Path folder;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    private String config() { return folder.resolve("lunar.toml").toString(); }

    /** A gateway. */
    private final class Gateway implements AutoCloseable {
        private final ServingProcess process;
        private final BlockDevice lun;

        Gateway() throws IOException {
            process = new ServingProcess(folder, "raid5:vol", "--config", config(), "--portal",
                    "127.0.0.1:0");
            lun = Devices.open(process.uri() + "?no-path-retry=fail");
        }

        void kill() throws Exception {
            process.kill();
            lun.close();
        }

        @Override
        public void close() throws Exception {
            process.end();
            lun.close();
        }
    }

    private CommandRun raid(String... words) { return new RaidFolder(folder).raid(words); }

    @Test
    void shouldKeepWritesAcknowledgedOverIscsi() throws Exception {
        var create = new ArrayList<>(List.of("create", "raid5:vol", "--chunk", "16k"));
        for (String name : List.of("a", "b", "c", "d")) {
            create.add("file:" + folder.resolve(name) + "?size=16MiB");
        }
        create.add("--assume-clean");
        raid(create.toArray(String[]::new)).succeeds();
        byte[] content = new byte[0];
        for (int round = 0; round < 3; round++) {
            var gateway = new Gateway();
            content = round == 0 ? new byte[(int) gateway.lun.sizeBytes()] : content;
            check(gateway.lun, content);
            work(gateway.lun, content);
            gateway.lun.submitWrite(0, MemorySegment.ofArray(new byte[PIECE])); // is there or not
            Arrays.fill(content, 0, PIECE, (byte) 0);
            gateway.kill();
            if (round == 1) { // a member is lost with it
                Files.delete(folder.resolve("c"));
            }
            settle(content);
        }
        assertThat(raid("replace", "raid5:vol", "2", "file:" + folder.resolve("new")
                + "?size=16MiB").succeeds().out()).contains("raid5:vol is clean");
        assertThat(raid("scrub", "raid5:vol").succeeds().out()).contains("no differences");
        try (var gateway = new Gateway()) {
            check(gateway.lun, content);
            assertThat(raid("status", "raid5:vol").succeeds().out())
                    .contains("running in process " + gateway.process.pid());
        }
        assertThat(raid("status", "raid5:vol").succeeds().out()).contains("not running",
                "  clean");
    }

    /** The write that was in progress may be there, block by block; the volume is stopped in order afterwards. */
    private void settle(byte[] content) throws Exception {
        try (BlockDevice volume = new VolumeUris(Path.of(config()))
                .open("raid5:vol?degraded=yes")) {
            MemorySegment first = MemorySegment.ofArray(content).asSlice(0, PIECE);
            volume.write(0, first);
            check(volume, content);
        }
    }

    private void check(BlockDevice device, byte[] content) throws Exception {
        int step = 1 << 20;
        for (int at = 0; at < content.length; at += step) {
            int length = Math.min(step, content.length - at);
            MemorySegment found = MemorySegment.ofArray(new byte[length]);
            device.read(at / BLOCK, found);
            long differs = found.mismatch(MemorySegment.ofArray(content).asSlice(at, length));
            assertThat(differs).as("seed " + seed + ", from byte " + at).isEqualTo(-1);
        }
    }

    /** Checks data that was acknowledged to the host: plain, FUA, zeroes and unmapped. */
    private void work(BlockDevice lun, byte[] content) throws Exception {
        assertThat(lun.capabilities()).contains(Capability.WRITE_ZEROES);
        try (Arena arena = Arena.ofConfined()) {
            for (int i = 0; i < 40; i++) {
                int bytes = BLOCK * (1 + random.nextInt(PIECE / BLOCK));
                int at = random.nextInt((content.length - bytes) / BLOCK) * BLOCK;
                int choice = random.nextInt(6);
                if (choice == 0) {
                    lun.writeZeroes(at / BLOCK, bytes / BLOCK);
                    Arrays.fill(content, at, at + bytes, (byte) 0);
                } else if (choice == 1 && lun.supports(Capability.UNMAP_ZEROES)) {
                    lun.unmap(at / BLOCK, bytes / BLOCK);
                    Arrays.fill(content, at, at + bytes, (byte) 0);
                } else {
                    byte[] noise = new byte[bytes];
                    random.nextBytes(noise);
                    MemorySegment data = arena.allocate(bytes)
                            .copyFrom(MemorySegment.ofArray(noise));
                    if (choice == 2) {
                        lun.writeThrough(at / BLOCK, data);
                    } else {
                        lun.write(at / BLOCK, data);
                    }
                    System.arraycopy(noise, 0, content, at, bytes);
                }
            }
        }
    }
}
