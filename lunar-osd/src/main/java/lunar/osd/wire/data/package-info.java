/**
 * Data of commands beside attributes: CDB continuation segments and query lists in data-out; the replies of LIST, LIST
 * COLLECTION, QUERY, READ MAP, PERFORM TASK MANAGEMENT FUNCTION and SET MASTER KEY in data-in.
 */
@NullMarked
package lunar.osd.wire.data;

import org.jspecify.annotations.NullMarked;
