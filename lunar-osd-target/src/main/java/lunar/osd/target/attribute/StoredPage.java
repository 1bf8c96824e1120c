package lunar.osd.target.attribute;

import java.util.function.Predicate;
import lunar.block.StorageException;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.PageIdentification;
import lunar.scsi.Bytes;

/** A page whose attributes are stored as they are set. */
final class StoredPage implements PageProvider {
    private final int page;

    StoredPage(int page) { this.page = page; }

    @Override
    public Bytes get(AttributeScope scope, int number) throws StorageException {
        return scope.stored(new AttributeId(page, number));
    }

    @Override
    public boolean all(AttributeScope scope, Predicate<Attribute> consumer)
            throws StorageException {
        boolean[] more = {true};
        scope.objects().attributes(scope.id(), page, attribute -> {
            more[0] = consumer.test(attribute);
            return more[0];
        });
        return more[0];
    }

    @Override
    public SetRule rule(int number) {
        return number == AttributeId.PAGE_IDENTIFICATION
                ? SetRule.atMost(PageIdentification.LENGTH)
                : SetRule.ANY;
    }

    @Override
    public void set(AttributeChange change, int number, Bytes value) throws StorageException {
        change.store(new AttributeId(page, number), value);
    }
}
