package lunar.raid.service;

import static org.assertj.core.api.Assertions.assertThat;

import lunar.raid.layout.Level;
import lunar.raid.metadata.DegradedStart;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A member that goes away while a volume starts after a crash, at any of its requests: the volume starts without it. Of
 * a RAID 1, whose members each may have gone on alone, that takes a person's word.
 */
class RunningStartFaultsTest extends RunningFixture {
    private static final int MAX_REQUESTS = 2000;

    @ParameterizedTest
    @Timeout(300)
    @EnumSource(value = Level.class, names = {"RAID5", "RAID6"})
    void shouldStartWithoutAMemberThatGoesAwayMeanwhile(Level level) throws Exception {
        create(level, Math.max(3, level.minMembers()));
        spec = spec.withOptions(OPTIONS.withDegradedStart(DegradedStart.ALLOWED));
        int starts = 0;
        for (int done = 0;; done += 1 + random.nextInt(3)) {
            fill(random.nextInt(64) * BLOCK, 64 << 10);
            volume.flush();
            shelf.pullAll();
            volume.close();
            shelf.cut();
            Shelf.Disk disk = shelf.disk("disk:" + random.nextInt(spec.members().size()));
            disk.pullAtRequest(done);
            open();
            check();
            boolean wasPulled = disk.isPulled();
            disk.putBack();
            awaitHealth(VolumeHealth.CLEAN);
            if (!wasPulled) {
                break;
            }
            starts++;
            assertThat(done).isLessThan(MAX_REQUESTS);
        }
        assertThat(starts).as("starts that lost a member").isGreaterThan(10);
        scrub();
    }
}
