package lunar.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.block.Usage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SpaceWatchTest {
    private static final long GIB = 1L << 30;

    /** A device whose store can be as full as a test likes. */
    private static final class FillingDevice extends ForwardingDevice {
        private Usage usage = new Usage(0, GIB);
        private boolean readOnly;

        FillingDevice(BlockDevice below) { super(below); }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) { below().submit(request); }

        @Override
        public Optional<Usage> usage() { return Optional.of(usage); }

        @Override
        public boolean readOnly() { return readOnly; }
    }

    private final List<String> warnings = new ArrayList<>();
    private final SpaceWatch watch = new SpaceWatch(new ServerListener() {
        @Override
        public void warned(String message, @Nullable IOException cause) { warnings.add(message); }
    });
    private final FillingDevice device;

    SpaceWatchTest() throws IOException { device = new FillingDevice(Devices.open("ram:4GiB")); }

    @AfterEach
    void close() throws StorageException { device.close(); }

    /** Looks when the store has this part of a GiB left, and returns the new warnings. */
    private List<String> look(double left) {
        long available = (long) (left * GIB);
        device.usage = new Usage(GIB - available, available);
        warnings.clear();
        watch.look(placed("file:/srv/a.img?size=4GiB", false));
        return List.copyOf(warnings);
    }

    private List<TargetAssembly.Placed> placed(String uri, boolean readOnly) {
        var lun = new ServerPlan.Lun(uri, false, false, readOnly, false, Optional.empty());
        return List.of(new TargetAssembly.Placed("iqn.2026-11.org.example:a", 3, lun,
                new ServedSource.Disk(device)));
    }

    @Test
    void shouldWarnBeforeTheStoreIsFullAndWhenItIs() {
        assertThat(look(0.5)).isEmpty();
        assertThat(look(0.0625)).containsExactly("LUN 3 of iqn.2026-11.org.example:a"
                + " (file:/srv/a.img?size=4GiB): its store has 64 MiB of free space, less than the"
                + " 3.1 GiB that the unit can still need; free some space, or writes will fail");
        assertThat(look(0.06)).isEmpty();
        assertThat(look(0.015625)).singleElement().asString().contains("16 MiB of free space");
        assertThat(look(0)).singleElement().asString().endsWith("its store is full: writes that"
                + " need space fail; free some space");
        assertThat(look(0)).isEmpty();
    }

    @Test
    void shouldWarnAgainAfterSpaceWasFreed() {
        assertThat(look(0.09)).hasSize(1);
        assertThat(look(0.11)).isEmpty();
        assertThat(look(0.09)).as("not every few seconds at the limit").isEmpty();
        assertThat(look(0.5)).isEmpty();
        assertThat(look(0.09)).hasSize(1);
    }

    @Test
    void shouldNotWarnOfAStoreThatCanHoldTheUnit() {
        device.usage = new Usage(4 * GIB - 512, 512);
        watch.look(placed("file:a", false));
        assertThat(warnings).isEmpty();
    }

    @Test
    void shouldWarnOnceOfAStoreThatStaysFullButForSomeBytes() {
        assertThat(look(0)).hasSize(1);
        assertThat(look(1.0 / GIB)).isEmpty();
        assertThat(look(0)).as("not each time a byte is freed").isEmpty();
        assertThat(look(0.025)).isEmpty();
        assertThat(look(0)).hasSize(1);
    }

    @Test
    void shouldNotWarnOfUnitsThatAreNotWritten() {
        device.usage = new Usage(GIB, 0);
        watch.look(placed("file:a", true));
        device.readOnly = true;
        watch.look(placed("file:a", false));
        assertThat(warnings).isEmpty();
        device.readOnly = false;
        assertThat(look(0)).hasSize(1);
    }
}
