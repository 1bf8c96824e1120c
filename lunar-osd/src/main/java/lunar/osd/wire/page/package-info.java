/**
 * The standard attribute pages: their numbers, their attributes by type of object, the layouts of those that have a
 * page format, and the ranges of page numbers.
 */
@NullMarked
package lunar.osd.wire.page;

import org.jspecify.annotations.NullMarked;
