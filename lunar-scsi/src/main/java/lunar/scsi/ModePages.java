package lunar.scsi;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The mode pages of a logical unit with their current, changeable and default values: answers MODE SENSE and obeys
 * MODE SELECT. Immutable; nothing is saved.
 */
public final class ModePages {
    /**
     * One page.
     *
     * @param current its values now
     * @param changeable a mask of the same length: the bits MODE SELECT may change
     * @param defaults its values after power on
     */
    public record Entry(ModePage current, Bytes changeable, Bytes defaults) {
        public Entry {
            int length = current.parameters().length();
            if (changeable.length() != length || defaults.length() != length) {
                throw new IllegalArgumentException("values of different lengths");
            }
        }

        /** A page of which nothing can be changed. */
        public static Entry fixed(ModePage page) {
            return new Entry(page, Bytes.of(new byte[page.parameters().length()]),
                    page.parameters());
        }

        private ModePage values(ModeSense.PageControl control) {
            return switch (control) {
                case CURRENT -> current;
                case CHANGEABLE -> current.withParameters(changeable);
                case DEFAULT, SAVED -> current.withParameters(defaults);
            };
        }
    }

    private static final Sense SAVING_NOT_SUPPORTED = Sense.of(SenseKey.ILLEGAL_REQUEST,
            AdditionalSense.SAVING_PARAMETERS_NOT_SUPPORTED);

    private final List<Entry> entries;

    private ModePages(List<Entry> entries) { this.entries = entries; }

    /** These pages. Two of the same code and subpage are a mistake. */
    public static ModePages of(List<Entry> entries) {
        List<Entry> sorted = entries.stream()
                .sorted(Comparator.comparingInt(ModePages::index)).toList();
        if (sorted.stream().mapToInt(ModePages::index).distinct().count() < sorted.size()) {
            throw new IllegalArgumentException("a mode page is there twice");
        }
        return new ModePages(sorted);
    }

    /**
     * Caching, Control and Informational Exceptions of a disk.
     *
     * @param writeCacheEnabled WCE
     * @param changeable whether MODE SELECT may change D_SENSE and SWP, which the logical unit then obeys
     */
    public static ModePages disk(boolean writeCacheEnabled, boolean changeable) {
        ControlModePage control = ControlModePage.of(false, false, false);
        return of(List.of(Entry.fixed(CachingModePage.of(writeCacheEnabled)),
                new Entry(control, ControlModePage.changeable(changeable, changeable),
                        control.parameters()),
                Entry.fixed(InformationalExceptionsModePage.disabled())));
    }

    /** The current values of a page, subpage 0. */
    public Optional<ModePage> current(int code) {
        return entries.stream().map(Entry::current)
                .filter(page -> page.code() == code && page.subpage() == 0).findFirst();
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
     * @throws InvalidCdbException 24h/00h for a page that is not there, 39h/00h for saved values
     */
    public ParameterData answer(ModeSense cdb, int deviceSpecific, ModeParameters.Blocks blocks)
            throws InvalidCdbException {
        if (cdb.control() == ModeSense.PageControl.SAVED) {
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
     * Obeys MODE SELECT: the pages as they are afterwards. The block descriptor is not looked at.
     *
     * @param data all PARAMETER LIST LENGTH bytes
     * @throws IllegalRequestException for SP, for PF being clear, for a page that is not there or has another
     *         length, and for a change of a bit that cannot be changed, with a pointer to it
     */
    public ModePages change(ModeSelect cdb, MemorySegment data) throws IllegalRequestException {
        if (cdb.savePages()) {
            throw InvalidCdbException.field(1, 0);
        }
        if (cdb.revertToDefaults()) {
            return new ModePages(entries.stream()
                    .map(entry -> new Entry(entry.values(ModeSense.PageControl.DEFAULT),
                            entry.changeable(), entry.defaults()))
                    .toList());
        }
        if (cdb.parameterListLength() == 0) {
            return this; // no error (SPC-5)
        }
        if (!cdb.pageFormat()) {
            throw InvalidCdbException.field(1, 4);
        }
        ModeParameters wanted = ModeParameters.decodeSelect(cdb.form(), data);
        var changed = new ArrayList<>(entries);
        int at = ModeParameters.pagesOffset(cdb.form(), data);
        for (ModePage page : wanted.pages()) {
            int found = find(page, at);
            changed.set(found, change(changed.get(found), page, at));
            at += page.bytes().length;
        }
        return new ModePages(List.copyOf(changed));
    }

    private int find(ModePage page, int at) throws InvalidParameterListException {
        for (int i = 0; i < entries.size(); i++) {
            ModePage known = entries.get(i).current();
            if (known.code() == page.code() && known.subpage() == page.subpage()) {
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
        return new Entry(entry.current().withParameters(then), entry.changeable(),
                entry.defaults());
    }

    /** Ascending by page and subpage, the vendor's page 00h last (SPC-5). */
    private static int index(Entry entry) {
        int code = entry.current().code();
        return (code == 0 ? 0x40 : code) << 8 | entry.current().subpage();
    }
}
