package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.OptionalInt;
import java.util.OptionalLong;
import lunar.block.InvalidRequestException;
import lunar.raid.SlotState;
import lunar.raid.layout.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests requests of operators, and the stored form of members' URIs. */
class VolumeRequestTest extends RunningFixture {
    private static final String PEER = "iscsi://user%hidden@host/iqn.2026-11.org.lunar:x/0";

    @Test
    void shouldApplyRequests() throws Exception {
        create(Level.RAID1, 2);
        events.awaitThrough(ScanKind.RESYNC);
        shelf.add("disk:new", MEMBER_BYTES);
        assertThat(new VolumeRequest.Fail("disk:1").applyTo(volume)).isEqualTo(OptionalInt.of(1));
        assertThat(volume.status().slots().get(1).state()).isEqualTo(SlotState.FAILED);
        assertThat(new VolumeRequest.Replace("1", "disk:new", false).applyTo(volume))
                .isEqualTo(OptionalInt.of(1));
        events.awaitThrough(ScanKind.REBUILD);
        awaitHealth(VolumeHealth.CLEAN);
        assertThat(new VolumeRequest.Add("disk:1", true).applyTo(volume)).isEmpty();
        assertThat(volume.status().spares()).hasSize(1);
        assertThat(new VolumeRequest.Remove("disk:1").applyTo(volume)).isEmpty();
        assertThat(volume.status().spares()).isEmpty();
        assertThat(new VolumeRequest.Scrub(true, OptionalLong.of(0)).applyTo(volume)).isEmpty();
        assertThat(events.await(VolumeEvent.Scrubbed.class).result().isClean()).isTrue();
        check();
    }

    @Test
    void shouldNotRepeatSecrets() throws Exception {
        assertThat(new VolumeRequest.Replace(PEER, PEER, true)).hasToString("replace slot "
                + PEER.replace("%hidden", "") + " by " + PEER.replace("%hidden", "")
                + ", by force");
        for (VolumeRequest request : new VolumeRequest[]{new VolumeRequest.Fail(PEER),
                new VolumeRequest.Add(PEER, false), new VolumeRequest.Remove(PEER),
                new VolumeRequest.Grow(PEER, true)}) {
            assertThat(request.toString()).contains("user@host").doesNotContain("hidden");
        }
        create(Level.RAID1, 2);
        String device = PEER + "-small";
        shelf.add(device, 1 << 20);
        events.awaitThrough(ScanKind.RESYNC);
        awaitHealth(VolumeHealth.CLEAN);
        for (VolumeRequest request : new VolumeRequest[]{
                new VolumeRequest.Replace("1", device, false), new VolumeRequest.Add(device, false),
                new VolumeRequest.Grow(device, false), new VolumeRequest.Remove(device)}) {
            assertThatThrownBy(() -> request.applyTo(volume))
                    .isInstanceOf(InvalidRequestException.class).hasMessageContaining("user@host")
                    .hasMessageNotContaining("hidden");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "file:/a\nfile:/b", "file:/a?lock=no", "\0"})
    void shouldRefuseBadNames(String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> new VolumeRequest.Fail(name));
        assertThatIllegalArgumentException().isThrownBy(() -> new VolumeRequest.Remove(name));
        assertThatIllegalArgumentException().isThrownBy(() -> new VolumeRequest.Grow(name, true));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new VolumeRequest.Replace("1", name, true));
    }

    @Test
    void shouldLimitNamesAndRates() {
        assertThatIllegalArgumentException().isThrownBy(() -> new VolumeRequest.Add(
                "x".repeat(VolumeRequest.MAX_NAME_LENGTH + 1), false));
        assertThat(new VolumeRequest.Add("x".repeat(VolumeRequest.MAX_NAME_LENGTH), false).name())
                .hasSize(VolumeRequest.MAX_NAME_LENGTH);
        assertThatIllegalArgumentException().isThrownBy(
                () -> new VolumeRequest.Scrub(false, OptionalLong.of(1)));
        assertThat(new VolumeRequest.Scrub(false, OptionalLong.of(Long.MAX_VALUE)))
                .hasToString("scrub at " + Long.MAX_VALUE + " bytes per second");
    }

    @Test
    void shouldStoreAbsolutePathsWithoutSizes() {
        assertThat(StoredUri.of("file:/srv/x/../a.img?size=1GiB"))
                .isEqualTo("file:/srv/a.img");
        assertThat(StoredUri.of("verify:file:/a?size=1GiB&read-only=true"))
                .isEqualTo("verify:file:/a?read-only=true");
        assertThat(StoredUri.of("file:a")).startsWith("file:/").endsWith("/a");
        assertThat(StoredUri.of(PEER)).isEqualTo(PEER);
        assertThat(StoredUri.isRelative("file:a")).isTrue();
        assertThat(StoredUri.isRelative("trace:file:../a?size=1MiB")).isTrue();
        assertThat(StoredUri.isRelative("file:/a")).isFalse();
        assertThat(StoredUri.isRelative("ram:1MiB")).isFalse();
        assertThat(StoredUri.isRelative("2")).isFalse();
    }
}
