package lunar.osd.store;

import java.nio.file.Path;
import lunar.osd.store.directory.DirectoryObjectStore;
import lunar.osd.store.directory.StoreOptions;
import org.junit.jupiter.api.io.TempDir;

/** Tests the store in a directory. */
class DirectoryStoreTest extends ObjectStoreContract {
    @TempDir
    Path folder;

    @Override
    ObjectStore create() throws Exception {
        return DirectoryObjectStore.open(folder.resolve("store"), StoreOptions.CREATE);
    }
}
