package lunar.scsi.target.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.copy.BlockRange;
import lunar.scsi.copy.CscdDescriptor;
import lunar.scsi.copy.RodToken;
import lunar.scsi.target.Blocks;
import lunar.scsi.target.LogicalUnits;
import lunar.scsi.target.UnitContext;
import lunar.scsi.target.block.DiskSpec;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.Naa;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the lifetime of ROD tokens with a clock that the test sets. */
class RodTokensTest {
    private static final long SECOND = 1_000_000_000L;

    private long now = 1;
    private final RodTokens tokens = new RodTokens(() -> now);
    private BlockDevice device;
    private CopyUnit copies;

    @BeforeEach
    void open() throws Exception {
        device = new Blocks();
        copies = ((CopyDevice) LogicalUnits.open(DiskSpec.of(device), "iqn.2026-11.org.lunar:t",
                new UnitContext(1 << 20, 1_000)).device()).copies();
    }

    @AfterEach
    void close() throws Exception { device.close(); }

    private Bytes create(String initiator, long inactivitySeconds) throws CopyException {
        var source = new CopySource.Blocks(copies, List.of(new BlockRange(8, 8)));
        return tokens.create(initiator, source, inactivitySeconds,
                (identifier, secret) -> new RodToken(RodToken.CHANGE_VULNERABLE, identifier,
                        CscdDescriptor.disk(
                                Designator.ofUnit(Naa.locallyAssigned(new UUID(1, 2))), 512),
                        4096, new CapacityData16(2047, 512, 0, 0, true, true, 0),
                        new Identifier.ScsiName("iqn.2026-11.org.lunar:a"), secret))
                .token();
    }

    private void assertRefused(Bytes token, AdditionalSense why) {
        assertThatExceptionOfType(CopyException.class).isThrownBy(() -> tokens.use(token))
                .satisfies(e -> assertThat(e.sense().additional()).isEqualTo(why));
    }

    @Test
    void shouldExpireAfterInactivityTimeout() throws Exception {
        Bytes token = create("a", 30);
        for (int i = 0; i < 10; i++) { // each use restarts the timeout
            now += 30 * SECOND;
            tokens.giveBack(tokens.use(token));
        }
        RodTokens.Rod inUse = tokens.use(token);
        now += 100 * SECOND;
        tokens.requireAlive(inUse);
        tokens.giveBack(inUse);
        now += 31 * SECOND;
        assertRefused(token, AdditionalSense.TOKEN_EXPIRED);
    }

    @Test
    void shouldExpireAfterMaximumLifetimeEvenIfUsed() throws Exception {
        Bytes token = create("a", 600);
        RodTokens.Rod inUse = tokens.use(token);
        now += (RodTokens.MAX_LIFETIME_SECONDS + 1) * SECOND;
        assertThatExceptionOfType(CopyException.class)
                .isThrownBy(() -> tokens.requireAlive(inUse));
    }

    @Test
    void shouldLimitTokensPerInitiatorAndDropEndedOnes() throws Exception {
        Set<Bytes> made = new HashSet<>();
        for (int i = 0; i < RodTokens.MAX_TOKENS_OF_INITIATOR; i++) {
            made.add(create("greedy", 60));
        }
        assertThat(made).as("all different").hasSize(RodTokens.MAX_TOKENS_OF_INITIATOR);
        assertThatExceptionOfType(CopyException.class).isThrownBy(() -> create("greedy", 60))
                .satisfies(e -> assertThat(e.sense().additional()).isEqualTo(
                        AdditionalSense.INSUFFICIENT_RESOURCES_TO_CREATE_ROD_TOKEN));
        tokens.giveBack(tokens.use(create("modest", 60)));
        now += 2000 * SECOND;
        assertRefused(made.iterator().next(), AdditionalSense.TOKEN_EXPIRED);
        tokens.giveBack(tokens.use(create("greedy", 60)));
        assertRefused(made.iterator().next(), AdditionalSense.TOKEN_UNKNOWN);
    }

    @Test
    void shouldRevokeOnlyTokensOfWrittenBlocks() throws Exception {
        Bytes token = create("a", 60);
        tokens.written(device, 0, 8);
        tokens.written(device, 16, 100);
        try (BlockDevice other = new Blocks()) {
            tokens.written(other, 0, 2048);
        }
        tokens.giveBack(tokens.use(token));
        tokens.written(device, 15, 1);
        assertRefused(token, AdditionalSense.TOKEN_REVOKED);
    }
}
