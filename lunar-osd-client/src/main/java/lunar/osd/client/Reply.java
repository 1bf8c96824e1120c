package lunar.osd.client;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.StandardAttribute;
import lunar.scsi.Bytes;

/**
 * Result of a command with the attributes that it got along. Immutable.
 *
 * @param value the result
 * @param attributes attributes in the order of the request; those that are not set have no value
 */
public record Reply<T>(T value, List<Attribute> attributes) {
    /** Makes the list unmodifiable. */
    public Reply {
        attributes = List.copyOf(attributes);
    }

    /** Returns a reply without attributes. */
    static <T> Reply<T> of(T value) {
        return new Reply<>(value, List.of());
    }

    /** Returns the value of an attribute; empty if it is not set, or was not requested. */
    public Optional<Bytes> attribute(AttributeId id) {
        return attributes.stream().filter(each -> each.id().equals(id) && each.isSet())
                .map(Attribute::value).findFirst();
    }

    /** Returns the value of an attribute; empty if it is not set, or was not requested. */
    public Optional<Bytes> attribute(StandardAttribute attribute) {
        return attribute(attribute.id());
    }

    /** Returns this reply with another result. */
    <R> Reply<R> map(Function<? super T, ? extends R> function) {
        return new Reply<>(function.apply(value), attributes);
    }
}
