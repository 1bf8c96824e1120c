package lunar.osd.client;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.page.StandardAttribute;
import lunar.scsi.Bytes;

/**
 * A handle of an object of any kind, by its identifier: every object has attributes. The object need not exist. All
 * calls throw a {@link NoSuchObjectException} if it does not, another {@link OsdException} if the device refuses the
 * command, and a {@link lunar.block.StorageException} if it fails otherwise. Immutable and thread-safe.
 */
public abstract sealed class OsdObject
        permits RootObject, Partition, CollectionObject, UserObject {
    private static final int LONG_BYTES = 8;

    private final OsdCalls calls;
    private final ObjectId id;

    OsdObject(OsdCalls calls, ObjectId id) {
        this.calls = calls;
        this.id = id;
    }

    final OsdCalls calls() { return calls; }

    /** Returns the identifier. */
    public final ObjectId id() { return id; }

    // --- attributes ---

    /** Returns the value of an attribute; empty if it is not set. */
    public final Optional<Bytes> get(AttributeId attribute) throws IOException {
        return new Reply<>(id, calls.get(id, List.of(attribute), RequestOptions.NONE))
                .attribute(attribute);
    }

    /** Returns the value of an attribute; empty if it is not set. */
    public final Optional<Bytes> get(StandardAttribute attribute) throws IOException {
        return get(attribute.id());
    }

    /** Returns an unsigned number of up to eight bytes, such as a length or a time; empty if it is not set. */
    public final OptionalLong number(StandardAttribute attribute) throws IOException {
        Optional<Bytes> value = get(attribute);
        return value.isEmpty() ? OptionalLong.empty() : number(value.get());
    }

    private static OptionalLong number(Bytes value) {
        if (value.length() > LONG_BYTES) {
            return OptionalLong.empty();
        }
        long number = 0;
        for (int i = 0; i < value.length(); i++) {
            number = number << 8 | value.at(i);
        }
        return OptionalLong.of(number);
    }

    /** Returns attributes in this order; those that are not set have no value. */
    public final List<Attribute> get(List<AttributeId> attributes) throws IOException {
        return attributes.isEmpty()
                ? List.of()
                : calls.get(id, attributes, RequestOptions.NONE);
    }

    /** Returns the attributes of a page that are set. */
    public final List<Attribute> getPage(int page) throws IOException {
        return get(List.of(new AttributeId(page, AttributeId.ALL_NUMBERS)));
    }

    /** Returns the attributes of all pages that are set. */
    public final List<Attribute> getAll() throws IOException {
        return getPage(AttributeId.ALL_PAGES);
    }

    /** Sets an attribute; no bytes delete it. */
    public final void set(AttributeId attribute, Bytes value) throws IOException {
        set(new Attribute(attribute, value));
    }

    /** Sets several attributes with one command; those without a value are deleted. */
    public final void set(Attribute... attributes) throws IOException {
        var _ = update(RequestOptions.NONE.set(attributes));
    }

    /** Deletes attributes. */
    public final void delete(AttributeId... attributes) throws IOException {
        set(Arrays.stream(attributes).map(Attribute::unset).toArray(Attribute[]::new));
    }

    /** Sets attributes, then gets attributes, with one command (SET ATTRIBUTES); returns those that it got. */
    public final List<Attribute> update(RequestOptions options) throws IOException {
        return calls.execute(OsdCommand.of(ServiceAction.SET_ATTRIBUTES, options,
                common -> new AttributesCommand(ServiceAction.SET_ATTRIBUTES, common, id, false,
                        0)))
                .attributes();
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof OsdObject that && that.getClass().equals(getClass())
                && that.id.equals(id) && that.calls.equals(calls);
    }

    @Override
    public final int hashCode() { return id.hashCode(); }

    /** Returns the identifier for people. */
    @Override
    public final String toString() { return id.toString(); }
}
