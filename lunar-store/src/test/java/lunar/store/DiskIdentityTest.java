package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import lunar.block.DeviceRecords;
import org.junit.jupiter.api.Test;

/** Tests that a disk keeps the identity by which hosts know it, where records have it. */
class DiskIdentityTest {
    private static final Path PATH = Path.of("/dev/vda3");
    private static final UUID LEGACY = DiskIdentity.uuid("/dev/vda3");
    private static final String BEFORE = "partition 11111111-03";
    private static final DiskName NAME = slot("04");

    /** A partition of a disk without a name of its own. */
    private static DiskName slot(String number) {
        return new DiskName("machine:slot " + number + " " + BEFORE, "depends on its slot",
                List.of(BEFORE));
    }

    private static UUID find(DiskName name, DeviceRecords records) throws IOException {
        return new DiskIdentity(name, PATH, FileOptions.BUFFERED, new PathRecords(records, PATH))
                .find(LEGACY);
    }

    @Test
    void shouldNotHaveTheIdentityThatACloneHad() throws IOException {
        assertThat(find(NAME, DeviceRecords.NONE)).isEqualTo(find(NAME, new ServedRecords()))
                .isNotEqualTo(DiskIdentity.uuid(BEFORE));
    }

    @Test
    void shouldKeepTheIdentityThatWasServedUnderAnEarlierName() throws IOException {
        var records = new ServedRecords();
        records.served.add(DiskIdentity.uuid(BEFORE));
        for (int start = 0; start < 2; start++) {
            assertThat(find(NAME, records)).isEqualTo(DiskIdentity.uuid(BEFORE));
        }
        assertThat(find(slot("05"), records)).as("a copy of the disk")
                .isEqualTo(DiskIdentity.uuid(slot("05").text()));
    }

    @Test
    void shouldKeepTheIdentityOfThePathThatItsEarlierNameHadInherited() throws IOException {
        var records = new ServedRecords();
        records.served.add(LEGACY);
        assertThat(find(new DiskName(BEFORE), records)).isEqualTo(LEGACY);
        for (int start = 0; start < 2; start++) {
            assertThat(find(NAME, records)).isEqualTo(LEGACY);
        }
        assertThat(find(slot("05"), records)).isNotEqualTo(LEGACY);
    }

    @Test
    void shouldKeepTheIdentityThatTheOperatorGaveItUnderAnEarlierName() throws IOException {
        UUID pinned = UUID.fromString("0f8fad5b-d9cb-469f-a165-70867728950e");
        var records = new ServedRecords();
        var options = FileOptions.BUFFERED.withIdentity(PinnedIdentity.parse(pinned.toString()));
        var paths = new PathRecords(records, PATH);
        new DiskIdentity(new DiskName(BEFORE), PATH, options, paths).find(LEGACY);
        for (int start = 0; start < 2; start++) {
            assertThat(find(NAME, records)).isEqualTo(pinned);
        }
        assertThat(find(slot("05"), records)).isNotEqualTo(pinned);
    }
}
