package lunar.osd.target.attribute;

import java.util.Optional;
import lunar.block.StorageException;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.PageKind;
import lunar.scsi.Sense;

/**
 * An attribute that a command sets, and where its fields are, for errors.
 *
 * @param attribute page, number and value; no bytes delete the attribute
 * @param place where its page, its number and its length are
 */
public record SetEntry(Attribute attribute, Place place) {
    /**
     * Field pointers.
     *
     * @param inCdb whether page, number and length are in the CDB; else in the parameter list
     * @param page first byte of the page
     * @param number first byte of the number
     * @param length first byte of the length
     * @param parameter first byte of the field of the CDB that leads to the attribute
     */
    public record Place(boolean inCdb, int page, int number, int length, int parameter) {
        /** Returns the refusal of a field. */
        public RefusedException refuse(int at) {
            return new RefusedException(inCdb
                    ? Sense.invalidFieldInCdb(at)
                    : Sense.invalidFieldInParameterList(at));
        }
    }

    /**
     * Refuses an attribute that objects of a type do not have, that is read-only, or that cannot have this value.
     *
     * @param byFormat whether the command is FORMAT OSD, which sets what others may not
     */
    public void check(ObjectType type, boolean byFormat) throws RefusedException {
        AttributeId id = attribute.id();
        Optional<PageProvider> page = id.page() == AttributeId.ALL_PAGES
                ? Optional.empty()
                : StandardPages.of(id.page(), type);
        if (page.isEmpty()) {
            throw place.refuse(place.page());
        }
        SetRule rule = id.number() == AttributeId.ALL_NUMBERS
                && PageKind.of(id.page()) != PageKind.CURRENT_COMMAND
                        ? SetRule.UNKNOWN
                        : page.get().rule(id.number());
        switch (rule.when()) {
            case UNKNOWN -> throw place.refuse(place.number());
            case NEVER -> throw readOnly();
            case BY_FORMAT -> {
                if (!byFormat) {
                    throw readOnly();
                }
            }
            case ALWAYS -> {
            }
        }
        if (!rule.permits(attribute.value())) {
            throw place.refuse(place.length());
        }
    }

    private RefusedException readOnly() {
        return RefusedException.field(place.inCdb() ? place.number() : place.parameter());
    }

    /** Sets the attribute, which was checked. */
    public void set(AttributeChange change) throws StorageException, RefusedException {
        AttributeId id = attribute.id();
        Optional<PageProvider> page = StandardPages.of(id.page(), change.object().type());
        if (page.isPresent()) {
            page.get().set(change, id.number(), attribute.value());
        }
    }
}
