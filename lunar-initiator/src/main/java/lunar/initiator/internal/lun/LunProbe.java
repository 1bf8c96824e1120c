package lunar.initiator.internal.lun;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.Geometry;
import lunar.block.Identity;
import lunar.block.InvalidRequestException;
import lunar.block.NotSupportedException;
import lunar.block.ReservationConflictException;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.initiator.internal.retry.RetriedCall;
import lunar.initiator.internal.retry.RetryPolicy;
import lunar.initiator.internal.session.SessionEngine;
import lunar.scsi.Bytes;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.Lun;
import lunar.scsi.MalformedDataException;
import lunar.scsi.block.CapacityData10;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.block.CompareAndWrite;
import lunar.scsi.block.ReadCapacity10;
import lunar.scsi.block.ReadCapacity16;
import lunar.scsi.command.ReportSupportedOperationCodes;
import lunar.scsi.command.SupportedOperationCode;
import lunar.scsi.mode.CachingModePage;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.mode.ModeSense;
import lunar.scsi.primary.LunList;
import lunar.scsi.primary.ReportLuns;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.DeviceIdentification;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.LogicalBlockProvisioning;
import lunar.scsi.vpd.Naa;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.vpd.SupportedVpdPages;
import lunar.scsi.vpd.UnitSerialNumber;
import lunar.scsi.vpd.VpdPage;
import lunar.scsi.vpd.WriteVerifier;

/** Probes the properties of a LUN. Old and small targets report few of them. */
public final class LunProbe {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    private static final int FIRST_LUN_LIST_BYTES = 4096;
    private static final int MAX_LUN_LIST_BYTES = 8 + 8 * 16_384;
    private static final int INQUIRY_BYTES = 96;
    private static final int VPD_BYTES = 1024;
    private static final int MODE_BYTES = 192;

    private static final int WRITE_SAME_16 = 0x93;

    /** Timeout of an optional command: some devices drop one that they do not know, and answer later commands. */
    private static final int OPTIONAL_MS = 5_000;
    private static final long BEYOND_READ_CAPACITY_10 = 0xffff_ffffL;
    private static final int NO_NAME = 9;

    private final SessionEngine session;
    private final Lun lun;
    private boolean silent;

    public LunProbe(SessionEngine session, Lun lun) {
        this.session = session;
        this.lun = lun;
    }

    /** Asks a LUN for everything that a block device needs. */
    public static LunTraits probe(SessionEngine session, Lun lun) throws StorageException {
        var probe = new LunProbe(session, lun);
        try {
            return probe.traits();
        } catch (MalformedDataException e) {
            throw new DeviceGoneException(probe.name() + " returned an invalid response: "
                    + e.getMessage(), e);
        }
    }

    /** Returns the target's LUNs, of any device type (REPORT LUNS). */
    public static List<Lun> luns(SessionEngine session) throws StorageException {
        var probe = new LunProbe(session, Lun.ZERO);
        try {
            MemorySegment list = probe.ask(new ReportLuns(0, FIRST_LUN_LIST_BYTES),
                    FIRST_LUN_LIST_BYTES);
            long length = LunList.fullLength(list);
            if (length > FIRST_LUN_LIST_BYTES) {
                int bytes = (int) Math.min(length, MAX_LUN_LIST_BYTES);
                list = probe.ask(new ReportLuns(0, bytes), bytes);
            }
            return LunList.decode(list).luns();
        } catch (MalformedDataException e) {
            throw new DeviceGoneException(session.targetName()
                    + " returned an invalid response to REPORT LUNS: " + e.getMessage(), e);
        }
    }

    String name() { return session.targetName() + "/" + lun; }

    /** Returns the write verifier; empty if the unit has none. */
    public Optional<UUID> writeVerifier() throws StorageException {
        return vpd(WriteVerifier.CODE).filter(WriteVerifier.class::isInstance)
                .map(WriteVerifier.class::cast).map(WriteVerifier::value);
    }

    private LunTraits traits() throws StorageException, MalformedDataException {
        StandardInquiry inquiry = requireDisk();
        MemorySegment _ = ask(new TestUnitReady(), 0);
        Set<Integer> pages = pages();
        Optional<CapacityData16> capacity = askOptional(new ReadCapacity16(32), 32,
                CapacityData16::decode);
        Geometry geometry = geometry(capacity.isPresent() ? capacity.get() : smallCapacity());
        Optional<BlockLimits> limits = limitsPage(pages, BlockLimits.CODE, BlockLimits.class);
        Optional<LogicalBlockProvisioning> provisioning = limitsPage(pages,
                LogicalBlockProvisioning.CODE, LogicalBlockProvisioning.class);
        long modeChanges = session.resets().modeChanges(lun).get();
        Optional<LunAnswers.Modes> mode = mode();
        Optional<Boolean> writesSame = supports(WRITE_SAME_16);
        Optional<Boolean> comparesAndWrites = limits
                .filter(told -> told.maxCompareAndWriteBlocks() > 0).isPresent()
                        ? comparesAndWrites()
                        : Optional.empty();
        return LunTraits.of(geometry, identity(inquiry, pages),
                page(pages, WriteVerifier.CODE, WriteVerifier.class).map(WriteVerifier::value),
                session.options().queueDepth(), new LunAnswers(capacity, limits, provisioning,
                        mode, writesSame, comparesAndWrites),
                modeChanges);
    }

    private StandardInquiry requireDisk() throws StorageException, MalformedDataException {
        StandardInquiry inquiry = StandardInquiry
                .decode(ask(new Inquiry(false, 0, INQUIRY_BYTES), INQUIRY_BYTES));
        if (inquiry.isConnected() && inquiry.deviceType() == StandardInquiry.DISK) {
            return inquiry;
        }
        String there = luns(session).stream().map(Lun::toString)
                .collect(Collectors.joining(", "));
        if (!inquiry.isConnected() || inquiry.deviceType() == StandardInquiry.UNKNOWN) {
            throw new DeviceGoneException(name() + " does not exist; the target has LUN "
                    + there, null);
        }
        String type = inquiry.deviceType() == StandardInquiry.OSD
                ? "an object store (OSD)"
                : "a device of type " + Integer.toHexString(inquiry.deviceType()) + "h";
        throw new NotSupportedException(name() + " is not a disk but " + type
                + "; the target has LUN " + there, null);
    }

    private Set<Integer> pages() throws StorageException {
        return vpd(SupportedVpdPages.CODE)
                .map(page -> page instanceof SupportedVpdPages supported
                        ? new HashSet<>(supported.codes())
                        : Set.<Integer>of())
                .orElse(Set.of());
    }

    private <P extends VpdPage> Optional<P> page(Set<Integer> supported, int code, Class<P> type)
            throws StorageException {
        return supported.contains(code)
                ? vpd(code).filter(type::isInstance).map(type::cast)
                : Optional.empty();
    }

    /**
     * Returns a page, or nothing where the device refuses it or answers with another. No answer is a failure: these
     * pages identify a device, which must not depend on how busy it was.
     */
    private Optional<VpdPage> vpd(int code) throws StorageException {
        try {
            return Optional.of(VpdPage.decode(ask(new Inquiry(true, code, VPD_BYTES), VPD_BYTES)));
        } catch (InvalidRequestException | NotSupportedException | MalformedDataException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0}: no VPD page {1}h: {2}", name(),
                    Integer.toHexString(code), e.getMessage());
            return Optional.empty();
        }
    }

    /** Returns a page of limits, if the device has it and answers. */
    private <P extends VpdPage> Optional<P> limitsPage(Set<Integer> supported, int code,
            Class<P> type) throws StorageException {
        return supported.contains(code)
                ? askOptional(new Inquiry(true, code, VPD_BYTES), VPD_BYTES, VpdPage::decode)
                        .filter(type::isInstance).map(type::cast)
                : Optional.empty();
    }

    private CapacityData16 smallCapacity() throws StorageException, MalformedDataException {
        CapacityData10 small = CapacityData10.decode(ask(new ReadCapacity10(), 8));
        if (small.lastLba() == BEYOND_READ_CAPACITY_10) {
            throw new NotSupportedException(
                    name() + " has more blocks than READ CAPACITY(10) can report,"
                            + " but does not support READ CAPACITY(16)",
                    null);
        }
        return new CapacityData16(small.lastLba(), small.blockSize(), 0, 0, false, false, 0);
    }

    /** Returns the geometry of a device; throws where no block device can have it. */
    private Geometry geometry(CapacityData16 capacity) throws StorageException {
        try {
            int blockSize = Math.toIntExact(capacity.blockSize());
            return new Geometry(blockSize, Math.addExact(capacity.lastLba(), 1),
                    blockSize << capacity.physicalExponent());
        } catch (ArithmeticException | IllegalArgumentException e) {
            throw new NotSupportedException(name() + " has " + (capacity.lastLba() + 1)
                    + " blocks of " + capacity.blockSize() + " bytes: " + e.getMessage(), e);
        }
    }

    /** Returns write protection and FUA; empty if the device has no mode pages. */
    private Optional<LunAnswers.Modes> mode() throws StorageException {
        for (int page : new int[]{ModeSense.ALL_PAGES, CachingModePage.CODE}) {
            var sense = new ModeSense(CdbForm.CDB6, false, true, ModeSense.PageControl.CURRENT,
                    page, 0, MODE_BYTES);
            Optional<ModeParameters> told = askOptional(sense, MODE_BYTES,
                    bytes -> ModeParameters.decodeSense(CdbForm.CDB6, bytes));
            if (told.isPresent()) {
                return told.map(parameters -> new LunAnswers.Modes(page, parameters));
            }
        }
        return Optional.empty();
    }

    /** Whether the device supports a command; empty if it does not report that. */
    private Optional<Boolean> supports(int opcode) throws StorageException {
        var ask = new ReportSupportedOperationCodes(false,
                ReportSupportedOperationCodes.ONE_OPCODE, opcode, 0, 64);
        return askOptional(ask, 64, SupportedOperationCode::decode)
                .flatMap(told -> switch (told.support()) {
                    case STANDARD -> Optional.of(true);
                    case NOT_SUPPORTED -> Optional.of(false);
                    case UNKNOWN, VENDOR -> Optional.empty();
                });
    }

    /**
     * Whether COMPARE AND WRITE is supported, tested by a command of 0 blocks, which has no effect: tgtd reports the
     * command in its limits and operation codes, but rejects it. The W bit is set, because istgt does not respond
     * without it.
     */
    private Optional<Boolean> comparesAndWrites() throws StorageException {
        if (silent) {
            return Optional.empty();
        }
        try {
            MemorySegment _ = ask(new CompareAndWrite(0, 0, 0, false, false, 0), 0, true,
                    true);
            return Optional.of(true);
        } catch (InvalidRequestException _) {
            return Optional.of(true); // it knows the command, and refuses the number of blocks
        } catch (ReservationConflictException _) {
            return Optional.of(true); // reserved by another host: assume that it is supported
        } catch (NotSupportedException _) {
            return Optional.of(false);
        } catch (StorageException e) {
            doWithout("COMPARE AND WRITE", e);
            return Optional.empty();
        }
    }

    // --- identity ---

    private Identity identity(StandardInquiry inquiry, Set<Integer> pages)
            throws StorageException {
        String serial = page(pages, UnitSerialNumber.CODE, UnitSerialNumber.class)
                .map(page -> page.serial().strip()).orElse("");
        List<Designator> designators = page(pages, DeviceIdentification.CODE,
                DeviceIdentification.class).map(DeviceIdentification::designators)
                .orElse(List.of());
        String t10Name = inquiry.vendor() + "/" + inquiry.product() + "/" + serial;
        UUID uuid = designators.stream()
                .filter(each -> each.association() == Designator.Association.LOGICAL_UNIT)
                .map(Designator::identifier).filter(each -> rank(each) < NO_NAME)
                .min((a, b) -> Integer.compare(rank(a), rank(b))).map(LunProbe::uuid)
                .orElseGet(() -> Identity
                        .uuidOf(serial.isEmpty() ? session.targetName() + "/" + lun : t10Name));
        return new Identity(inquiry.vendor(), inquiry.product(), inquiry.revision(),
                serial.length() > 64 ? serial.substring(0, 64) : serial, uuid);
    }

    /** Ranks names by how likely they are the same over every path and forever. */
    private static int rank(Identifier identifier) {
        return switch (identifier) {
            case Identifier.UuidName _ -> 0;
            case Naa _ -> 1;
            case Identifier.Eui64 _ -> 2;
            case Identifier.ScsiName _ -> 3;
            case Identifier.T10VendorId _ -> 4;
            case Identifier.RelativeTargetPort _,Identifier.TargetPortGroup _,Identifier.LogicalUnitGroup _,Identifier.Other _ ->
                NO_NAME;
        };
    }

    private static UUID uuid(Identifier identifier) {
        return identifier instanceof Identifier.UuidName name
                ? name.uuid()
                : Identity.uuidOf(identifier.type() + ":" + Bytes.of(identifier.content()));
    }

    // --- asking ---

    /** Decodes data that a device has sent. */
    @FunctionalInterface
    private interface Decoder<T> {
        T decode(MemorySegment bytes) throws MalformedDataException;
    }

    /**
     * Sends an optional query; returns empty if it fails, its response is invalid or does not arrive within a short
     * time. After one timeout no more optional queries are sent, so that a device costs that time only once.
     *
     * @throws StorageException if the session has ended
     */
    private <T> Optional<T> askOptional(Cdb cdb, int maxBytes, Decoder<T> decoder)
            throws StorageException {
        if (silent) {
            return Optional.empty();
        }
        try {
            return Optional.of(decoder.decode(askBriefly(cdb, maxBytes)));
        } catch (MalformedDataException e) {
            LOG.log(System.Logger.Level.DEBUG, "{0}: invalid response to {1}: {2}", name(), cdb,
                    e.getMessage());
        } catch (StorageException e) {
            doWithout(cdb.toString(), e);
        }
        return Optional.empty();
    }

    /** Like {@link #ask}, but with the short timeout of an optional query. */
    MemorySegment askBriefly(Cdb cdb, int maxBytes) throws StorageException {
        return ask(cdb, maxBytes, false, true);
    }

    private void doWithout(String what, StorageException why) throws StorageException {
        if (!session.isOpen()) {
            throw why;
        }
        if (why instanceof DeadlineException) {
            silent = true;
            LOG.log(System.Logger.Level.INFO,
                    "{0} does not respond to {1}: assuming that it is not supported,"
                            + " and skipping other optional queries",
                    name(), what);
        } else {
            LOG.log(System.Logger.Level.DEBUG, "{0}: {1} not available: {2}", name(), what,
                    why.getMessage());
        }
    }

    /**
     * Sends a command that reads, with retries as {@link RetryPolicy} decides.
     *
     * @return the data received, at most {@code maxBytes}
     */
    MemorySegment ask(Cdb cdb, int maxBytes) throws StorageException {
        return ask(cdb, maxBytes, false, false);
    }

    /** @param optional whether the timeout is short, and an aborted command is not sent again */
    private MemorySegment ask(Cdb cdb, int maxBytes, boolean saysWrite, boolean optional)
            throws StorageException {
        MemorySegment data = maxBytes == 0
                ? MemorySegment.NULL
                : MemorySegment.ofArray(new byte[maxBytes]);
        int patienceMs = session.options().timeouts().commandMs();
        int timeoutMs = optional ? Math.min(patienceMs, OPTIONAL_MS) : patienceMs;
        byte[] bytes = cdb.bytes();
        Supplier<String> what = () -> cdb + " on " + name();
        ScsiResult result = RetriedCall.send(() -> session.execute(lun, bytes, data,
                MemorySegment.NULL, saysWrite, timeoutMs), !optional, patienceMs, what);
        return data.asSlice(0, result.orThrow(what.get()).dataInBytes());
    }
}
