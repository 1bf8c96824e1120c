package lunar.osd.target.attribute;

import java.util.Map;
import java.util.function.Predicate;
import lunar.block.StorageException;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.Bytes;

/** The collections page of user objects: setting an attribute adds the object to a collection, deleting removes it. */
final class CollectionsPage implements PageProvider {
    @Override
    public Bytes get(AttributeScope scope, int number) throws StorageException {
        if (number == AttributeId.PAGE_IDENTIFICATION) {
            return PageNames.identification(Membership.PAGE);
        }
        Long collection = Membership.of(scope.objects(), scope.id()).get(number);
        return collection == null ? Bytes.EMPTY : Values.int64(collection);
    }

    @Override
    public boolean all(AttributeScope scope, Predicate<Attribute> consumer)
            throws StorageException {
        var page = new AttributeId(Membership.PAGE, AttributeId.PAGE_IDENTIFICATION);
        if (!consumer.test(new Attribute(page, PageNames.identification(Membership.PAGE)))) {
            return false;
        }
        for (Map.Entry<Integer, Long> each : Membership.of(scope.objects(), scope.id())
                .entrySet()) {
            if (!consumer.test(new Attribute(UserObjectAttribute.collection(each.getKey()),
                    Values.int64(each.getValue())))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public SetRule rule(int number) {
        if (number == AttributeId.PAGE_IDENTIFICATION) {
            return SetRule.READ_ONLY;
        }
        return Integer.compareUnsigned(number, UserObjectAttribute.LAST_COLLECTION) > 0
                ? SetRule.UNKNOWN
                : SetRule.exactly(Long.BYTES);
    }

    @Override
    public void set(AttributeChange change, int number, Bytes value)
            throws StorageException, RefusedException {
        if (value.length() == 0) {
            Membership.clear(change.objects(), change.id(), number);
        } else {
            Membership.set(change.objects(), change.id(), number, Values.number(value));
        }
    }
}
