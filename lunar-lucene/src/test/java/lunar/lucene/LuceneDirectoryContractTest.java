package lunar.lucene;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.tests.store.BaseDirectoryTestCase;

/** Runs Lucene's own tests of directories on memory, and on a file whose requests complete on other threads. */
public class LuceneDirectoryContractTest extends BaseDirectoryTestCase {
    private final Deque<BlockDevice> devices = new ArrayDeque<>();

    /** For the runner. */
    public LuceneDirectoryContractTest() {}

    @Override
    protected Directory getDirectory(Path path) throws IOException {
        String size = "64MiB";
        BlockDevice device = Devices.open(random().nextBoolean()
                ? "ram:" + size + "?block-size=" + (random().nextBoolean() ? 512 : 4096)
                : "file:" + createTempDir("device").resolve("disk.img") + "?size=" + size);
        devices.push(device);
        LunarDirectory.format(device);
        return LunarDirectory.open(device, random().nextInt(4 << 20));
    }

    @Override
    public void tearDown() throws Exception {
        while (!devices.isEmpty()) {
            devices.pop().close();
        }
        super.tearDown();
    }

    /** The kit's own wants files in a folder. */
    @Override
    public void testFsyncDoesntCreateNewFiles() throws Exception {
        try (Directory directory = getDirectory(createTempDir())) {
            directory.createOutput("afile", IOContext.DEFAULT).close();
            directory.deleteFile("afile");
            expectThrows(NoSuchFileException.class, () -> directory.sync(List.of("afile")));
            assertEquals(0, directory.listAll().length);
        }
    }

    /**
     * Replaces the kit's own test, which needs a directory with a virus checker. Here a deleted file stays readable
     * only through open inputs.
     */
    @Override
    public void testPendingDeletions() throws IOException {
        try (Directory directory = getDirectory(createTempDir())) {
            try (IndexOutput out = directory.createOutput("one", IOContext.DEFAULT)) {
                out.writeLong(42);
            }
            try (IndexInput in = directory.openInput("one", IOContext.DEFAULT)) {
                directory.deleteFile("one");
                assertEquals(0, directory.getPendingDeletions().size());
                assertEquals(0, directory.listAll().length);
                expectThrows(NoSuchFileException.class, () -> directory.fileLength("one"));
                expectThrows(NoSuchFileException.class, () -> directory.rename("one", "two"));
                expectThrows(NoSuchFileException.class, () -> directory.deleteFile("one"));
                expectThrows(NoSuchFileException.class,
                        () -> directory.openInput("one", IOContext.DEFAULT));
                directory.createOutput("one", IOContext.DEFAULT).close();
                directory.syncMetaData();
                assertEquals(42, in.readLong());
            }
        }
    }
}
