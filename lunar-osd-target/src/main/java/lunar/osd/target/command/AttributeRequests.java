package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntPredicate;
import lunar.osd.security.RequiredAccess;
import lunar.osd.target.attribute.AttributeReader;
import lunar.osd.target.attribute.SetEntry;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.AttributeParameters;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.GetAttributesList;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.attribute.SetAttributesList;
import lunar.osd.wire.page.StandardPage;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidParameterListException;

/**
 * Attributes that a command gets and sets, whatever the format of its parameters.
 *
 * @param sets attributes to set, in their order
 * @param list attributes to get
 * @param page page to get instead, in page format
 */
record AttributeRequests(List<SetEntry> sets, List<AttributeId> list, OptionalInt page) {
    private static final int NUMBER_AT = 4;
    private static final SetEntry.Place IN_PAGE_FORMAT = new SetEntry.Place(true, 64, 68, 72, 64);
    private static final SetEntry.Place IN_CDB = new SetEntry.Place(true, 52, 56, 60, 52);

    private static final Set<StandardPage> SETTINGS = EnumSet.of(StandardPage.USER_OBJECT_QUOTAS,
            StandardPage.PARTITION_QUOTAS, StandardPage.ROOT_QUOTAS,
            StandardPage.PARTITION_TIMESTAMPS, StandardPage.ROOT_TIMESTAMPS);

    AttributeRequests {
        sets = List.copyOf(sets);
        list = List.copyOf(list);
    }

    /** Whether a command says that it sets attributes. */
    static boolean sets(AttributeParameters parameters) {
        return switch (parameters) {
            case FieldParameters _ -> true;
            case ListParameters lists -> !lists.setList().isEmpty();
            case PageParameters pages -> pages.set().isPresent();
        };
    }

    /** Whether a command asks for nothing about attributes, in whichever format. */
    static boolean isNone(AttributeParameters parameters) {
        return switch (parameters) {
            case FieldParameters _ -> false;
            case ListParameters lists -> lists.getList().isEmpty() && lists.setList().isEmpty();
            case PageParameters pages -> pages.getPage() == PageParameters.NO_PAGE
                    && pages.set().isEmpty();
        };
    }

    /** Where in data-in a command wants attributes. */
    static BufferPart retrieved(AttributeParameters parameters) {
        return switch (parameters) {
            case FieldParameters _ -> BufferPart.NONE;
            case ListParameters lists -> lists.retrieved();
            case PageParameters pages -> pages.retrieved();
        };
    }

    /**
     * Decodes the requests of a command.
     *
     * @throws InvalidParameterListException for an error in a list
     */
    static AttributeRequests decode(AttributeParameters parameters, DataOut data,
            OsdVersion version) throws InvalidParameterListException {
        return switch (parameters) {
            case FieldParameters field -> new AttributeRequests(
                    List.of(new SetEntry(field.attribute(), IN_CDB)), List.of(),
                    OptionalInt.empty());
            case ListParameters lists -> new AttributeRequests(
                    sets(data.bytes(lists.setList()), version),
                    GetAttributesList.decode(data.bytes(lists.getList()), version).ids(),
                    OptionalInt.empty());
            case PageParameters pages -> new AttributeRequests(
                    pages.set().map(id -> List.of(new SetEntry(
                            new Attribute(id, Bytes.of(data.bytes(pages.setValue()))),
                            IN_PAGE_FORMAT))).orElse(List.of()),
                    List.of(), pages.getPage() == PageParameters.NO_PAGE
                            ? OptionalInt.empty()
                            : OptionalInt.of(pages.getPage()));
        };
    }

    private static List<SetEntry> sets(MemorySegment list, OsdVersion version)
            throws InvalidParameterListException {
        int header = version == OsdVersion.OSD_1 ? 10 : 16;
        int at = version == OsdVersion.OSD_1 ? 4 : 8;
        var entries = new ArrayList<SetEntry>();
        for (Attribute attribute : SetAttributesList.decode(list, version).attributes()) {
            entries.add(new SetEntry(attribute, new SetEntry.Place(false, at, at + NUMBER_AT,
                    at + header - 2, CdbFieldAt.SET_LIST_OFFSET)));
            int length = header + attribute.value().length();
            at += version == OsdVersion.OSD_1 ? length : length + 7 & -8;
        }
        return entries;
    }

    /** Whether anything is got, if there is room for it. */
    boolean gets() {
        return !list.isEmpty() || page.isPresent();
    }

    /** Returns the length that a user object gets by its logical length attribute. */
    OptionalLong length() {
        OptionalLong length = OptionalLong.empty();
        for (SetEntry entry : sets) {
            Attribute attribute = entry.attribute();
            if (attribute.id().equals(UserObjectAttribute.LOGICAL_LENGTH.id())) {
                length = OptionalLong.of(Values.number(attribute.value()));
            }
        }
        return length;
    }

    /** Returns where the length is that is set, to report an error. */
    SetEntry.Place lengthPlace() {
        return sets.stream().filter(
                entry -> entry.attribute().id().equals(UserObjectAttribute.LOGICAL_LENGTH.id()))
                .map(SetEntry::place).reduce((_, last) -> last).orElse(IN_CDB);
    }

    /** Whether attributes are set that are settings of objects: quotas, and the bypass of timestamps. */
    boolean setSettings() {
        return setsOnPage(page -> StandardPage.of(page).filter(SETTINGS::contains).isPresent());
    }

    /** Whether attributes are set that decide which commands are admitted. */
    boolean setPolicies() {
        return setsOnPage(RequiredAccess::isPolicyPage);
    }

    private boolean setsOnPage(IntPredicate which) {
        return sets.stream().mapToInt(entry -> entry.attribute().id().page()).anyMatch(which);
    }

    /** Returns all attributes that are got; those of a page as number FFFFFFFFh. */
    List<AttributeId> ids() {
        return page.isPresent()
                ? List.of(new AttributeId(page.getAsInt(), AttributeId.ALL_NUMBERS))
                : list;
    }

    /** Whether attributes of the current command are got. */
    boolean getCurrentCommand() {
        return (page.isPresent() && AttributeReader.isOfCurrentCommand(page.getAsInt()))
                || list.stream().anyMatch(id -> AttributeReader.isOfCurrentCommand(id.page()));
    }
}
