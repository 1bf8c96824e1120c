package lunar.it;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.testkit.BlockDeviceContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Runs the contract of a block device on a LUN of tgtd. */
class TgtdLunIT extends BlockDeviceContract {
    private static final long SIZE = 32 << 20;

    @TempDir
    private static Path folder;

    private static Tgtd tgtd;

    @BeforeAll
    static void start() throws Exception {
        tgtd = Tgtd.start(folder);
        tgtd.addTarget("disk", SIZE);
        String thin = tgtd.addTarget("readonly", SIZE);
        tgtd.admin("--op", "update", "--mode", "logicalunit", "--tid", thin, "--lun", "1",
                "--params", "readonly=1");
    }

    @AfterAll
    static void stop() {
        if (tgtd != null) {
            tgtd.close();
        }
    }

    private static BlockDevice open(String target) throws StorageException {
        return Devices.open("iscsi://" + tgtd.portal() + "/" + Tgtd.name(target) + "/1");
    }

    @Override
    protected BlockDevice create(long blockCount) throws Exception {
        assumeTrue(blockCount <= SIZE / 512, "the LUN is smaller");
        return open("disk");
    }

    @Override
    protected Optional<BlockDevice> reopen(BlockDevice device) throws Exception {
        device.close();
        return Optional.of(open("disk"));
    }

    @Override
    protected Optional<BlockDevice> createReadOnly(long blockCount) throws Exception {
        return Optional.of(open("readonly"));
    }
}
