package lunar.osd.target;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lunar.block.Identity;
import lunar.osd.store.ObjectStore;
import lunar.osd.target.command.CommandThreads;
import lunar.osd.target.command.OsdCommands;
import lunar.osd.target.command.OsdLimits;
import lunar.osd.target.security.DeviceSecurity;
import lunar.osd.target.security.EnforcedSecurity;
import lunar.osd.target.security.NoSecurity;
import lunar.scsi.Bytes;
import lunar.scsi.mode.ControlModePage;
import lunar.scsi.mode.ModePages;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.LogicalUnit;
import lunar.scsi.target.ModeCommands;
import lunar.scsi.target.Nexus;
import lunar.scsi.target.PeripheralDevice;
import lunar.scsi.target.ScsiTask;
import lunar.scsi.target.UnitContext;
import lunar.scsi.target.UnitModes;
import lunar.scsi.vpd.OtherVpdPage;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.vpd.VpdPage;

/** An object-based storage device (device type 11h). Sense data are always in descriptor format. */
final class OsdDevice implements PeripheralDevice, ModeCommands.Source {
    private static final int SPC_4 = 6;
    /** SAM-5, SPC-4, SPC-5, iSCSI, OSD (no version claimed), OSD-2. */
    private static final List<Integer> STANDARDS = List.of(0x00a0, 0x0460, 0x05c0, 0x0960, 0x0340,
            0x0440);
    /** OSD information: the system identifier, which credentials are issued for; nothing without security. */
    private static final int INFORMATION_PAGE = 0xb0;
    /** Security token of the I_T nexus; there is none without security. */
    private static final int SECURITY_TOKEN_PAGE = 0xb1;

    private final LogicalUnit unit;
    private final ObjectStore store;
    private final Identity identity;
    private final UnitModes<Boolean> modes;
    private final CommandThreads threads = CommandThreads.ofDevice();
    private final DeviceSecurity security;

    OsdDevice(LogicalUnit unit, OsdSpec spec) throws IOException {
        this.unit = unit;
        store = spec.store();
        identity = Identity.of("OSD", store.identity());
        security = spec.security().isEmpty()
                ? NoSecurity.NOSEC
                : EnforcedSecurity.open(store, spec.security().get().method(),
                        spec.security().get().master(), spec.security().get().replaceKey(),
                        System::currentTimeMillis);
        ModePages defaults = ModePages.of(
                List.of(ModePages.Entry.of(ControlModePage.of(true, false, false, 0),
                        ControlModePage.changeable())),
                spec.state().isPersistent());
        modes = new UnitModes<>("OSD " + store.identity(), defaults, spec.state(),
                ModePages::descriptorSense);
    }

    @Override
    public Identity identity() { return identity; }

    @Override
    public StandardInquiry inquiry() {
        return new StandardInquiry(0, StandardInquiry.OSD, false, SPC_4, false, true, false, 0,
                false, false, false, false, true, identity.vendor(), identity.product(),
                identity.revision(), STANDARDS);
    }

    @Override
    public List<VpdPage> vpdPages(Nexus nexus) {
        return List.of(new OtherVpdPage(INFORMATION_PAGE, security.systemId()),
                new OtherVpdPage(SECURITY_TOKEN_PAGE,
                        security.isOn() ? token(nexus) : Bytes.EMPTY));
    }

    private Bytes token(Nexus nexus) {
        return nexus.kept(unit, SecurityToken.class, SecurityToken::create).value();
    }

    @Override
    public UnitModes<?> modes() { return modes; }

    @Override
    public int deviceSpecific(ScsiTask task) { return 0; }

    @Override
    public ModeParameters.Blocks blocks() { return new ModeParameters.Blocks(0, 1); }

    @Override
    public boolean descriptorSense() { return true; }

    /** Adds the commands. */
    void register(CommandSet commands, UnitContext context) {
        new OsdCommands(store, identity, new OsdLimits(context.maxTransferBytes()),
                System::currentTimeMillis, threads, security, this::token).register(commands);
        new ModeCommands(unit, this).register(commands);
    }

    @Override
    public CompletableFuture<Void> reset() { return modes.reset().thenRun(() -> {}); }

    @Override
    public void startFollowing() throws IOException {
        modes.begin(unit, (_, _) -> CompletableFuture.completedFuture(null));
    }

    @Override
    public CompletableFuture<Void> stopFollowing() {
        modes.end();
        threads.close(); // no LUN has the unit any more
        return CompletableFuture.completedFuture(null);
    }
}
