/**
 * Stores of objects with attributes. {@link lunar.osd.store.ObjectStore} keeps partitions, collections and user
 * objects; it knows what an object is, but not what an attribute means.
 *
 * <pre>{@code
 * ObjectId object = new ObjectId(0x10000, 0x10001);
 * store.change(objects -> {
 *     objects.create(ObjectId.ofPartition(0x10000), ObjectType.PARTITION, now);
 *     objects.create(object, ObjectType.USER_OBJECT, now);
 *     objects.setAttribute(object, new AttributeId(0x1_0000, 1), Bytes.of((byte) 7));
 *     return null;
 * });                                                          // all of it, or nothing
 * store.write(object, 0, data, Growth.UNLIMITED);
 * store.flush(object);                                         // on stable storage
 * }</pre>
 */
@NullMarked
package lunar.osd.store;

import org.jspecify.annotations.NullMarked;
