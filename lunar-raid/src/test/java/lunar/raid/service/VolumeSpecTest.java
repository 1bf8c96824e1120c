package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.raid.layout.Level;
import lunar.raid.metadata.Creation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class VolumeSpecTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldBeAUri(Level level) {
        var spec = new VolumeSpec(level, "my.vol-1:a",
                List.of("iscsi://me%s&c@host/iqn.x/0?sessions=2&connections=2", "file:a b.img",
                        "raid0:inner?member=ram:1&member=file:x%2526y"),
                List.of("file:spare.img"), Optional.of("disk:/dev/nvme0n1"),
                RunOptions.DEFAULT.withRebuildRate(1 << 20)
                        .withStallTimeout(Duration.ofSeconds(90))
                        .withLostJournal(LostJournalPolicy.DROP)
                        .withConfigFile("/etc/a & b%.toml"));
        assertThat(VolumeSpec.of(DeviceUri.parse(spec.uri()))).isEqualTo(spec);
        assertThat(spec).hasToString(VolumeSpec.scheme(level) + ":my.vol-1:a");
        assertThat(VolumeSpec.schemes()).contains(VolumeSpec.scheme(level));
    }

    @ParameterizedTest
    @CsvSource({"raid5:vol, does not say where its members are",
            "raid5:?member=a, needs a name", "raid5:vol?member=a&size=1, unknown option 'size'",
            "raid5:vol?member=a&rebuild-rate=1, at least 4k",
            "raid5:vol?member=a&rebuild-rate=x, is not a size",
            "raid5:vol?member=a&stall-timeout=5, is not a time",
            "'raid5:vol?member=a&lost-journal=yes', 'not one of no, drop, renew'",
            "raid5:vol?member=a&journal=a&journal=b, given twice",
            "raid5:vol?member=file:a%3Fread-only=true%26lock=no, without its lock",
            "raid5:vol?member=a&spare=file:a%3Flock=no, without its lock",
            "raid5:vol?member=a&journal=disk:a%3Flock=no, without its lock"})
    void shouldSayInOneLineWhatIsWrong(String uri, String why) {
        assertThatThrownBy(() -> VolumeSpec.of(DeviceUri.parse(uri)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(why)
                .hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @CsvSource({"0,0", "250ms,250", "30s,30000", "5m,300000", "2h,7200000"})
    void shouldReadTimes(String text, long millis) {
        assertThat(VolumeSpec.time(text)).isEqualTo(Duration.ofMillis(millis));
    }

    /** Found by code that opens devices without knowing of volumes. */
    @Test
    void shouldBeOpenedAsAnyDevice() throws Exception {
        var members = new ArrayList<Creation.Member>();
        var uri = new StringBuilder("raid1:music?rebuild-rate=100M");
        for (String name : List.of("a.img", "b.img")) {
            String file = "file:" + folder.resolve(name);
            members.add(new Creation.Member(file, UUID.randomUUID(),
                    Devices.open(file + "?size=4M")));
            uri.append("&member=").append(DeviceUri.encoded(file));
        }
        Creation.create(Creation.Wish.of(UUID.randomUUID(), "music", 0, Level.RAID1,
                UUID.randomUUID()), members, false);
        for (Creation.Member member : members) {
            member.device().close();
        }
        byte[] data = {1, 2, 3};
        MemorySegment block = MemorySegment.ofArray(Arrays.copyOf(data, 512));
        try (BlockDevice volume = Devices.open(uri.toString())) {
            volume.write(7, block);
        }
        MemorySegment found = MemorySegment.ofArray(new byte[512]);
        try (BlockDevice volume = Devices.open("verify:" + uri)) {
            volume.read(7, found);
            assertThat(volume.sizeBytes()).isEqualTo(3 << 20);
        }
        assertThat(found.mismatch(block)).isEqualTo(-1);
        assertThatThrownBy(() -> Devices.open(uri.toString().replace("raid1:", "raid10:")))
                .hasMessageContaining("raid1:music");
    }
}
