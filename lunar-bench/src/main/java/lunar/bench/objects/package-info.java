/**
 * Measures the object store with very many objects in one partition: {@link lunar.bench.objects.ObjectsBench}. The
 * store is in a process of its own, so that its memory can be read and it can be killed.
 */
@NullMarked
package lunar.bench.objects;

import org.jspecify.annotations.NullMarked;
