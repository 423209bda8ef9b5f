# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False
"""The inner loop of `sequence_ratio`, compiled: what difflib's `SequenceMatcher` counts."""

from cpython.exc cimport PyErr_CheckSignals
from cython.operator cimport dereference
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

cdef struct Part:
    Py_ssize_t a_low
    Py_ssize_t a_high
    Py_ssize_t b_low
    Py_ssize_t b_high


def matching_characters(str a, str b, size_t most):
    """How many characters of two texts match.

    As difflib does: the longest run that both have of characters that are not too frequent (of
    equals the first in `a`, then in `b`), lengthened on both sides while the texts agree, then the
    same before and after it.

    Args:
        a: the first text.
        b: the second one.
        most: how often a character may stand in `b` for a run to be made of it.
    """
    cdef Py_ssize_t i, j, diagonal, length, best, best_a, best_b, end_a, end_b
    cdef Py_ssize_t size_a = len(a), size_b = len(b), matching = 0
    cdef unordered_map[Py_UCS4, vector[Py_ssize_t]] places
    cdef unordered_map[Py_UCS4, vector[Py_ssize_t]].iterator entry
    cdef vector[vector[Py_ssize_t]*] in_b  # for each place in `a`: where its character is
    cdef vector[Py_ssize_t] ends, lengths  # of the run last seen on a diagonal, by its end in `a`
    cdef vector[Py_ssize_t]* found
    cdef vector[Part] parts
    cdef Part part

    places.reserve(size_b)
    for j in range(size_b):
        places[b[j]].push_back(j)
    in_b.resize(size_a)
    for i in range(size_a):
        entry = places.find(a[i])
        if entry != places.end() and dereference(entry).second.size() <= most:
            in_b[i] = &dereference(entry).second
    ends.resize(size_a + size_b + 1)
    lengths.resize(size_a + size_b + 1)
    parts.push_back(Part(0, size_a, 0, size_b))
    while not parts.empty():
        PyErr_CheckSignals()
        part = parts.back()
        parts.pop_back()
        best_a, best_b, best = part.a_low, part.b_low, 0
        for i in range(part.a_low, part.a_high):
            found = in_b[i]
            if found == NULL:
                continue
            for j in found[0]:
                if j < part.b_low:
                    continue
                if j >= part.b_high:
                    break
                diagonal = i - j + size_b
                length = 1
                if i > part.a_low and j > part.b_low and ends[diagonal] == i:
                    length += lengths[diagonal]
                ends[diagonal] = i + 1
                lengths[diagonal] = length
                if length > best:
                    best_a, best_b, best = i - length + 1, j - length + 1, length
        end_a, end_b = best_a + best, best_b + best
        while best_a > part.a_low and best_b > part.b_low and a[best_a - 1] == b[best_b - 1]:
            best_a -= 1
            best_b -= 1
        while end_a < part.a_high and end_b < part.b_high and a[end_a] == b[end_b]:
            end_a += 1
            end_b += 1
        if end_a > best_a:
            matching += end_a - best_a
            if part.a_low < best_a and part.b_low < best_b:
                parts.push_back(Part(part.a_low, best_a, part.b_low, best_b))
            if end_a < part.a_high and end_b < part.b_high:
                parts.push_back(Part(end_a, part.a_high, end_b, part.b_high))
    return matching
