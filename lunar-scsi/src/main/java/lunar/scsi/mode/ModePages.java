package lunar.scsi.mode;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.wire.BigEndian;

/**
 * The mode pages of a logical unit with their current, changeable, default and saved values: answers MODE SENSE and
 * obeys MODE SELECT (SPC-5). Immutable; {@link #savedPages} returns the values to keep.
 */
public final class ModePages {
    /**
     * Values of a page.
     *
     * @param current its values now
     * @param changeable a mask of the same length: the bits MODE SELECT may change
     * @param defaults its values where nothing was saved
     * @param saved its values after power on
     */
    public record Entry(ModePage current, Bytes changeable, Bytes defaults, Bytes saved) {
        public Entry {
            int length = current.parameters().length();
            if (changeable.length() != length || defaults.length() != length
                    || saved.length() != length) {
                throw new IllegalArgumentException("values of different lengths");
            }
        }

        /** A page at its defaults. */
        public static Entry of(ModePage page, Bytes changeable) {
            return new Entry(page, changeable, page.parameters(), page.parameters());
        }

        /** A page of which nothing can be changed. */
        public static Entry fixed(ModePage page) {
            return of(page, Bytes.of(new byte[page.parameters().length()]));
        }

        private ModePage values(ModeSense.PageControl control) {
            return switch (control) {
                case CURRENT -> current;
                case CHANGEABLE -> current.withParameters(changeable);
                case DEFAULT -> current.withParameters(defaults);
                case SAVED -> current.withParameters(saved);
            };
        }

        private Entry withCurrent(Bytes values) {
            return new Entry(current.withParameters(values), changeable, defaults, saved);
        }

        private Entry withCurrentSaved() {
            return new Entry(current, changeable, defaults, current.parameters());
        }

        /** The page after power on, by its saved values. */
        private Entry restored(Bytes values) {
            return changedTo(values).withCurrentSaved();
        }

        /** The page with other current values: what can be changed is taken from these, the rest stays. */
        private Entry changedTo(Bytes values) {
            byte[] mixed = defaults.toArray();
            for (int i = 0; i < mixed.length; i++) {
                int mask = changeable.at(i);
                mixed[i] = (byte) ((defaults.at(i) & ~mask) | (values.at(i) & mask));
            }
            return withCurrent(Bytes.of(mixed));
        }
    }

    private static final Sense SAVING_NOT_SUPPORTED = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.SAVING_PARAMETERS_NOT_SUPPORTED);

    /** Saved values alone. */
    private static final int FORMAT = 1;
    /** The saved values of each page, then its current ones. */
    private static final int WITH_CURRENT = 2;

    private final List<Entry> entries;
    private final boolean saveable;

    private ModePages(List<Entry> entries, boolean saveable) {
        this.entries = entries;
        this.saveable = saveable;
    }

    /**
     * These pages. Two of the same code and subpage are a mistake.
     *
     * @param saveable whether MODE SELECT may save them: PS of every page
     */
    public static ModePages of(List<Entry> entries, boolean saveable) {
        List<Entry> sorted = entries.stream()
                .map(entry -> new Entry(
                        ModePage.of(entry.current().code(), entry.current().subpage(), saveable,
                                entry.current().parameters()),
                        entry.changeable(), entry.defaults(), entry.saved()))
                .sorted(Comparator.comparingInt(ModePages::index)).toList();
        if (sorted.stream().mapToInt(ModePages::index).distinct().count() < sorted.size()) {
            throw new IllegalArgumentException("a mode page is there twice");
        }
        return new ModePages(sorted, saveable);
    }

    /** The saved values as bytes to keep. */
    public byte[] savedPages() {
        var bytes = new ByteArrayOutputStream();
        bytes.write(FORMAT);
        entries.forEach(
                entry -> bytes.writeBytes(entry.values(ModeSense.PageControl.SAVED).bytes()));
        return bytes.toByteArray();
    }

    /** The saved and the current values, as bytes that servers of one unit share. */
    public byte[] savedAndCurrentPages() {
        var bytes = new ByteArrayOutputStream();
        bytes.write(WITH_CURRENT);
        for (Entry entry : entries) {
            bytes.writeBytes(entry.values(ModeSense.PageControl.SAVED).bytes());
            bytes.writeBytes(entry.current().bytes());
        }
        return bytes.toByteArray();
    }

    /**
     * The pages with values that {@link #savedPages} had, as after power on, or {@link #savedAndCurrentPages}; pages
     * that are not here any more are skipped.
     *
     * @throws MalformedDataException if these are not the bytes of saved pages
     */
    public ModePages restored(MemorySegment bytes) throws MalformedDataException {
        int format = bytes.byteSize() == 0 ? 0 : BigEndian.int8(bytes, 0);
        if (format != FORMAT && format != WITH_CURRENT) {
            throw new MalformedDataException("saved mode pages of an unknown format");
        }
        var restored = new ArrayList<>(entries);
        boolean isCurrent = false;
        for (long at = 1; at < bytes.byteSize();) {
            ModePage page = ModePage.decode(bytes.asSlice(at)).orElseThrow(
                    () -> new MalformedDataException("saved mode pages that are cut"));
            boolean asCurrent = isCurrent;
            restored.replaceAll(entry -> !sameCode(entry.current(), page)
                    || entry.saved().length() != page.parameters().length()
                            ? entry
                            : asCurrent
                                    ? entry.changedTo(page.parameters())
                                    : entry.restored(page.parameters()));
            at += page.bytes().length;
            isCurrent = format == WITH_CURRENT && !isCurrent;
        }
        if (isCurrent) {
            throw new MalformedDataException("saved mode pages that are cut");
        }
        return new ModePages(List.copyOf(restored), saveable);
    }

    /** The pages with their saved values as current ones. */
    public ModePages reset() {
        return with(entries.stream().map(entry -> entry.withCurrent(entry.saved())).toList(),
                false);
    }

    /** Whether the current values are the same. */
    public boolean sameValues(ModePages other) {
        return entries.stream().map(Entry::current).toList()
                .equals(other.entries.stream().map(Entry::current).toList());
    }

    /** The current values of a page and subpage. */
    public Optional<ModePage> current(int code, int subpage) {
        return entries.stream().map(Entry::current)
                .filter(page -> page.code() == code && page.subpage() == subpage).findFirst();
    }

    /** The current values of a page, subpage 0. */
    public Optional<ModePage> current(int code) {
        return current(code, 0);
    }

    /** D_SENSE of the Control page. */
    public boolean descriptorSense() {
        return current(ControlModePage.CODE).orElse(null) instanceof ControlModePage page
                && page.descriptorSense();
    }

    /** SWP of the Control page. */
    public boolean softwareWriteProtect() {
        return current(ControlModePage.CODE).orElse(null) instanceof ControlModePage page
                && page.softwareWriteProtect();
    }

    /**
     * Answers MODE SENSE.
     *
     * @param deviceSpecific {@link ModeParameters#WRITE_PROTECTED} and {@link ModeParameters#DPO_FUA}
     * @param blocks size of the device, told unless DBD is set
     * @throws InvalidCdbException 24h/00h for a page that is not there, 39h/00h for saved values where nothing
     *         is saved
     */
    public ParameterData answer(ModeSense cdb, int deviceSpecific, ModeParameters.Blocks blocks)
            throws InvalidCdbException {
        if (cdb.control() == ModeSense.PageControl.SAVED && !saveable) {
            throw new InvalidCdbException(SAVING_NOT_SUPPORTED);
        }
        boolean allPages = cdb.page() == ModeSense.ALL_PAGES;
        boolean allSubpages = cdb.subpage() == ModeSense.ALL_SUBPAGES;
        if (allPages && !allSubpages && cdb.subpage() != 0) {
            throw InvalidCdbException.field(3, 7);
        }
        List<ModePage> chosen = entries.stream()
                .filter(entry -> allPages || entry.current().code() == cdb.page())
                .filter(entry -> allSubpages || entry.current().subpage() == cdb.subpage())
                .map(entry -> entry.values(cdb.control())).toList();
        if (chosen.isEmpty()) {
            boolean known = entries.stream()
                    .anyMatch(entry -> entry.current().code() == cdb.page());
            throw known ? InvalidCdbException.field(3, 7) : InvalidCdbException.field(2, 5);
        }
        return new ModeParameters(0, deviceSpecific,
                cdb.noBlockDescriptors() ? Optional.empty() : Optional.of(blocks), chosen)
                .sense(cdb.form(), cdb.longLba());
    }

    /**
     * Obeys MODE SELECT: the pages as they are afterwards; with SP their current values are the saved ones too.
     *
     * @param data all PARAMETER LIST LENGTH bytes
     * @param blocks size of the device, which no block descriptor may change
     * @throws IllegalRequestException for SP where nothing is saved, for PF being clear, for a page that is not there
     *         or has another length, and for a change of a bit that cannot be changed, with a pointer to it
     */
    public ModePages change(ModeSelect cdb, MemorySegment data, ModeParameters.Blocks blocks)
            throws IllegalRequestException {
        if (cdb.savePages() && !saveable) {
            throw InvalidCdbException.field(1, 0);
        }
        if (cdb.revertToDefaults()) {
            if (cdb.parameterListLength() != 0) {
                throw InvalidCdbException.field(1, 1);
            }
            return with(entries.stream().map(entry -> entry.withCurrent(entry.defaults())).toList(),
                    cdb.savePages());
        }
        if (cdb.parameterListLength() == 0) {
            return this; // no error, and nothing changed or saved (SPC-5)
        }
        if (!cdb.pageFormat()) {
            throw InvalidCdbException.field(1, 4);
        }
        ModeParameters wanted = ModeParameters.decodeSelect(cdb.form(), data);
        wanted.checkUnchanged(cdb.form(), data, blocks);
        var changed = new ArrayList<>(entries);
        int at = ModeParameters.pagesOffset(cdb.form(), data);
        for (ModePage page : wanted.pages()) {
            int found = find(page, at);
            changed.set(found, change(changed.get(found), page, at));
            at += page.bytes().length;
        }
        return with(List.copyOf(changed), cdb.savePages());
    }

    private ModePages with(List<Entry> changed, boolean saved) {
        return new ModePages(saved
                ? changed.stream().map(Entry::withCurrentSaved).toList()
                : changed, saveable);
    }

    private static boolean sameCode(ModePage one, ModePage other) {
        return one.code() == other.code() && one.subpage() == other.subpage();
    }

    private int find(ModePage page, int at) throws InvalidParameterListException {
        for (int i = 0; i < entries.size(); i++) {
            if (sameCode(entries.get(i).current(), page)) {
                return i;
            }
        }
        throw InvalidParameterListException.field(at, 5);
    }

    private static Entry change(Entry entry, ModePage wanted, int at)
            throws InvalidParameterListException {
        int header = wanted.subpage() == 0 ? 2 : 4;
        Bytes now = entry.current().parameters();
        Bytes then = wanted.parameters();
        if (then.length() != now.length()) {
            throw InvalidParameterListException.field(at + header / 2);
        }
        for (int i = 0; i < now.length(); i++) {
            int forbidden = (now.at(i) ^ then.at(i)) & ~entry.changeable().at(i);
            if (forbidden != 0) {
                throw InvalidParameterListException.field(at + header + i,
                        31 - Integer.numberOfLeadingZeros(forbidden));
            }
        }
        Entry changed = entry.withCurrent(then);
        if (changed.current() instanceof InformationalExceptionsModePage page
                && !page.isReportingMethodKnown()) {
            throw InvalidParameterListException.field(at + header + 1, 3);
        }
        return changed;
    }

    /** Ascending by page and subpage, the vendor's page 00h last (SPC-5). */
    private static int index(Entry entry) {
        int code = entry.current().code();
        return (code == 0 ? 0x40 : code) << 8 | entry.current().subpage();
    }
}
