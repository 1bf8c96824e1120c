package lunar.osd.target.attribute;

import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import lunar.block.StorageException;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/** A page of attributes that are known one by one. Number 0 identifies the page. */
final class TablePage implements PageProvider {
    private final NavigableMap<Integer, StandardValue> values = new TreeMap<>(
            Comparator.comparingLong(Integer::toUnsignedLong));

    /** @param attributes all but the page identification, of one page */
    TablePage(int page, List<StandardValue> attributes) {
        Bytes identification = PageNames.identification(page);
        values.put(AttributeId.PAGE_IDENTIFICATION, StandardValue.readOnly(
                new AttributeId(page, AttributeId.PAGE_IDENTIFICATION), _ -> identification));
        for (StandardValue attribute : attributes) {
            if (attribute.id().page() != page
                    || values.put(attribute.id().number(), attribute) != null) {
                throw new IllegalArgumentException(attribute.id() + " in page " + page);
            }
        }
    }

    @Override
    public Bytes get(AttributeScope scope, int number) throws StorageException {
        StandardValue value = values.get(number);
        return value == null ? Bytes.EMPTY : value.getter().value(scope);
    }

    @Override
    public boolean all(AttributeScope scope, Predicate<Attribute> consumer)
            throws StorageException {
        for (StandardValue each : values.values()) {
            Bytes value = each.getter().value(scope);
            if (value.length() > 0 && !consumer.test(new Attribute(each.id(), value))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public SetRule rule(int number) {
        StandardValue value = values.get(number);
        return value == null ? SetRule.UNKNOWN : value.rule();
    }

    @Override
    public void set(AttributeChange change, int number, Bytes value) throws StorageException {
        StandardValue attribute = values.get(number);
        if (attribute == null) {
            throw new IllegalArgumentException("attribute " + number);
        }
        attribute.setter().set(change, value);
    }
}
