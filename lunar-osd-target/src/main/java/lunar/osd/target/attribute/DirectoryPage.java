package lunar.osd.target.attribute;

import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import lunar.block.StorageException;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.PageKind;
import lunar.osd.wire.page.StandardPage;
import lunar.scsi.Bytes;

/** A directory page: the identification of each page, under the number of the page. */
final class DirectoryPage implements PageProvider {
    private final int directory;
    private final List<Integer> standard;

    DirectoryPage(ObjectType type) {
        directory = PageKind.firstPage(type);
        standard = Stream.of(StandardPage.values())
                .filter(page -> page != StandardPage.CURRENT_COMMAND
                        && PageKind.objectType(page.number()).filter(type::equals).isPresent())
                .map(StandardPage::number).sorted(Comparator.comparingLong(Integer::toUnsignedLong))
                .toList();
    }

    /** The directory has itself as the attribute that identifies it. */
    @Override
    public Bytes get(AttributeScope scope, int number) throws StorageException {
        int page = number == AttributeId.PAGE_IDENTIFICATION ? directory : number;
        return standard.contains(page)
                ? PageNames.identification(page)
                : scope.stored(new AttributeId(page, AttributeId.PAGE_IDENTIFICATION));
    }

    @Override
    public boolean all(AttributeScope scope, Predicate<Attribute> consumer)
            throws StorageException {
        for (int page : standard) {
            int number = page == directory ? AttributeId.PAGE_IDENTIFICATION : page;
            if (!consumer.test(new Attribute(new AttributeId(directory, number),
                    PageNames.identification(page)))) {
                return false;
            }
        }
        boolean[] more = {true};
        scope.objects().attributes(scope.id(), AttributeId.ALL_PAGES, attribute -> {
            boolean identifies = attribute.id().number() == AttributeId.PAGE_IDENTIFICATION
                    && !standard.contains(attribute.id().page());
            more[0] = !identifies || consumer.test(new Attribute(
                    new AttributeId(directory, attribute.id().page()), attribute.value()));
            return more[0];
        });
        return more[0];
    }

    @Override
    public SetRule rule(int number) { return SetRule.READ_ONLY; }

    @Override
    public void set(AttributeChange change, int number, Bytes value) {
        throw new IllegalArgumentException("attribute " + number + " of a directory");
    }
}
