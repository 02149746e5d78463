"""Check by slang's tree what Yosys reads: is it trusted to read it, and does the RTL simulate as settled logic?"""
