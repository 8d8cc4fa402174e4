from . import flue, pi, claude_code
READERS=(claude_code.READER,flue.READER,pi.READER)
def read_session(data,name="data",format=None):
    for r in READERS:
        if (format is None and r.sniff(data) is None) or format==r.name: return r.read(data)
    raise ValueError
